// Where each stream of a source really ends, from the engine's list of packets (its `framecrc` output).

/** Stream index → where its last packet ends, in seconds from the first timestamp of the file. */
export type PacketEnds = ReadonlyMap<number, number>;

export type PacketList = {
  /** Takes the next line of the list; lines that name no packet are passed over. */
  readonly read: (line: string) => void;
  readonly ends: PacketEnds;
};

const TIME_BASE = /^#tb (\d+): (\d+)\/(\d+)$/;
const PACKET = /^(\d+), *-?\w+, *(-?\d+), *(\d+),/;

/** `startSeconds`: the timestamp that counts as zero. Keeps one number per stream, however long the list. */
export function openPacketList(startSeconds: number): PacketList {
  const ticks = new Map<number, number>();
  const ends = new Map<number, number>();
  const read = (line: string): void => {
    const [, stream, numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (stream !== undefined && numerator && denominator) ticks.set(stream, numerator / denominator);
    const [, index, time = 0, length = 0] = (PACKET.exec(line) ?? []).map(Number);
    if (index === undefined) return;
    const end = (time + length) * (ticks.get(index) ?? 0) - startSeconds;
    ends.set(index, Math.max(end, ends.get(index) ?? end));
  };
  return { read, ends };
}
