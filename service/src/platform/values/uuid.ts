// Validates UUIDs and converts between UUIDv7 and time.

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** 8-4-4-4-12 hex digits, either case (contract B2). */
export const isUuid = (value: string): boolean => UUID.test(value);

/** The lowest UUIDv7 of a millisecond; lower ids are older. */
export function firstIdOf(ms: number): string {
  const hex = Math.min(Math.max(Math.trunc(ms), 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** The creation time of a UUIDv7. */
export const timeOf = (id: string): Date => new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
