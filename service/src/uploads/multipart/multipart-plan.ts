// The parts of an upload in parts: their size, how many there are, and the length of each (contract B4).
import { badRequest } from '../../platform/http/errors.ts';
import { tooLarge } from '../original/upload-errors.ts';

const MIB = 1024 ** 2;
const MIN_PART_BYTES = 8 * MIB;
/** The limit of S3. */
const MAX_PARTS = 10_000;

/** Every part but the last has this size. */
export const partBytesFor = (sizeBytes: number): number =>
  Math.max(MIN_PART_BYTES, Math.ceil(sizeBytes / MAX_PARTS / MIB) * MIB);

/** `sizeBytes` is null until the client completes the upload; it is at most `maxBytes`. */
export type PartPlan = {
  readonly sizeBytes: number | null;
  readonly maxBytes: number;
  readonly partBytes: number;
};

/** The exact length of a part. `length` is what the client says of a file of unknown size. */
export function partLength(plan: PartPlan, number: number, length: number | undefined): number {
  const before = (number - 1) * plan.partBytes;
  const expected = Math.min(plan.partBytes, (plan.sizeBytes ?? plan.maxBytes) - before);
  if (expected <= 0) throw outOfRange(plan, number);
  if (length === undefined || length === expected) return expected;
  if (plan.sizeBytes !== null || length > plan.partBytes)
    throw badRequest(`Part ${number} must have ${expected} bytes`, {
      field: 'Size',
      reason: 'part_size_mismatch',
      expected,
    });
  if (length > expected) throw tooLarge(plan.maxBytes);
  return length;
}

function outOfRange({ sizeBytes, maxBytes, partBytes }: PartPlan, number: number): Error {
  const limit = Math.ceil((sizeBytes ?? maxBytes) / partBytes);
  return badRequest(`PartNumber ${number} is too high: this upload has at most ${limit} parts`, {
    field: 'PartNumber',
    reason: 'above_maximum',
    limit,
  });
}

type PlannedPart = { readonly partNumber: number; readonly sizeBytes: number };

/** The total size. Throws if a part is missing, or has another length than it must have. */
export function assertAllParts(plan: PartPlan, parts: readonly PlannedPart[]): number {
  const total = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const count = plan.sizeBytes === null ? parts.length : Math.ceil(plan.sizeBytes / plan.partBytes);
  const stored = new Map(parts.map((part) => [part.partNumber, part.sizeBytes]));
  const last =
    plan.sizeBytes === null ? (stored.get(count) ?? 0) : plan.sizeBytes - (count - 1) * plan.partBytes;
  const expected = (number: number) => (number === count ? last : plan.partBytes);
  const incomplete = Array.from({ length: count }, (_, index) => index + 1).filter(
    (number) => stored.get(number) !== expected(number),
  );
  if (incomplete.length > 0 || count === 0)
    throw badRequest('Not all parts have arrived. Send the missing ones, then complete the upload.', {
      reason: 'missing_parts',
      missing: incomplete.slice(0, 100),
    });
  if (total > plan.maxBytes) throw tooLarge(plan.maxBytes);
  return total;
}
