// Names of archived files of the log: timeline and number, or the history of a timeline, with `.gz`.

const NAME = /^(?:[0-9A-F]{24}|[0-9A-F]{8}\.history)\.gz$/;
const SEGMENTS_PER_ID = 256n;

export const isArchivedName = (name: string): boolean => NAME.test(name);

export const isHistory = (name: string): boolean => name.endsWith('.history.gz');

/** Eight digits, which sort by number. */
export const timelineIn = (name: string): string => name.slice(0, 8);

/** The number of a file, without the timeline, which a restored server changes. */
const positionOf = (name: string): bigint =>
  BigInt(`0x${name.slice(8, 16)}`) * SEGMENTS_PER_ID + BigInt(`0x${name.slice(16, 24)}`);

export const isBefore = (name: string, other: string): boolean => positionOf(name) < positionOf(other);

/** Whether a copy needs the file whose log begins with `first`: a restored server leaves its timeline. */
export const isNeeded = (name: string, first: string): boolean =>
  isHistory(name) || (timelineIn(name) >= timelineIn(first) && !isBefore(name, first));

/** The name of the first missing file of each gap: of each timeline, and between them. */
export function findGaps(names: readonly string[]): string[] {
  const files = names.filter((name) => !isHistory(name));
  const timelines = Map.groupBy(files, timelineIn).values();
  return [...new Set([files, ...timelines].flatMap(findGapsIn))];
}

function findGapsIn(files: readonly string[]): string[] {
  const positions = new Map(files.map((name) => [positionOf(name), name]));
  const last = [...positions.keys()].reduce((max, position) => (position > max ? position : max), 0n);
  return [...positions]
    .filter(([position]) => position < last && !positions.has(position + 1n))
    .map(([position, name]) => nameOf(timelineIn(name), position + 1n));
}

function nameOf(timeline: string, position: bigint): string {
  const hex = (number: bigint) => number.toString(16).toUpperCase().padStart(8, '0');
  return `${timeline}${hex(position / SEGMENTS_PER_ID)}${hex(position % SEGMENTS_PER_ID)}.gz`;
}
