// Text for people: tables, sizes, times, and API text without control characters.

/** API text must not move the cursor or change colours of the terminal that shows it. */
export const toPlain = (text: string): string =>
  text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, (character) => (character === '\t' ? ' ' : '�'));

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, '0')).join(':');
}

/** `2026-11-22 10:15:00` in the time zone of the machine. */
export function formatTime(iso: string): string {
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return Number.isNaN(time.getTime()) ? toPlain(iso) : local.toISOString().slice(0, 19).replace('T', ' ');
}

type Row = readonly (string | number | null | undefined)[];

const toCell = (cell: Row[number]): string => toPlain(String(cell ?? '–'));

/** Columns are aligned; the last one is not padded. */
export function formatTable(head: readonly string[], rows: readonly Row[]): string {
  const lines = [head, ...rows.map((row) => row.map(toCell))];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => [...(line[column] ?? '')].length)));
  const render = (line: readonly string[]): string =>
    line
      .map((cell, column) =>
        column === head.length - 1 ? cell : cell + ' '.repeat((widths[column] ?? 0) - [...cell].length),
      )
      .join('  ')
      .trimEnd();
  return lines.map(render).join('\n');
}

export type Field = readonly [name: string, value: Row[number]];

/** `name  value` lines; members without a value are left out. */
export function formatFields(fields: readonly Field[]): string {
  const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== '');
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${toCell(value)}`).join('\n');
}
