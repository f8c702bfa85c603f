// Finds the actual end of each stream from ffmpeg's packet list (`framecrc` output).

/** Stream index → end of its last packet, in seconds from the first timestamp of the file. */
export type PacketEnds = ReadonlyMap<number, number>;

type PacketList = {
  /** Parses the next line of the list; ignores lines without a packet. */
  readonly read: (line: string) => void;
  readonly ends: PacketEnds;
};

const TIME_BASE = /^#tb (\d+): (\d+)\/(\d+)$/;
const PACKET = /^(\d+), *-?\w+, *(-?\d+), *(\d+),/;

/** `startSeconds`: the timestamp that counts as zero. Stores one number per stream for lists of any length. */
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
