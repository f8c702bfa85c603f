// Reads the packets of a stream that ffmpeg has written as bytes and as a list of their sizes and times.
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { isTime } from '../../plan/source/source-timeline.ts';

type CaptionPacket = { readonly seconds: number; readonly bytes: Uint8Array };

type PacketFiles = { readonly data: string; readonly list: string };

const TIME_BASE = /^#tb 0: (\d+)\/(\d+)$/;
/** Stream, decode time, show time, duration, size. */
const PACKET = /^0, *(-?\w+), *(-?\w+), *-?\d+, *(\d+),/;
/** The caption data of a picture has less than 100 bytes. Longer packets contain other metadata too. */
const MAX_PACKET_BYTES = 64 * 1024;
/** Other work of the process goes on between them. */
const PACKETS_PER_TURN = 64;

/** Packets without a time have that of the one before. Too long ones are left out. */
export async function* readCaptionPackets({ data, list }: PacketFiles): AsyncGenerator<CaptionPacket> {
  await using file = await open(data);
  const reader = createReader(file);
  let [tick, seconds, count] = [0, 0, 0];
  for await (const line of createInterface({ input: createReadStream(list) })) {
    const [, numerator, denominator] = (TIME_BASE.exec(line) ?? []).map(Number);
    if (numerator && denominator) tick = numerator / denominator;
    const [, decodeTime, showTime, size] = (PACKET.exec(line) ?? []).map(Number);
    if (size === undefined) continue;
    seconds = ([showTime, decodeTime].find(isTime) ?? seconds / tick) * tick;
    if (size > MAX_PACKET_BYTES) reader.skip(size);
    else yield { seconds, bytes: await reader.read(size) };
    count += 1;
    if (count % PACKETS_PER_TURN === 0) await setImmediate();
  }
}

type Reader = {
  readonly skip: (size: number) => void;
  /** Fewer bytes at the end of the file. They are valid until the next call. */
  readonly read: (size: number) => Promise<Uint8Array>;
};

/** Longer than a packet. */
const BUFFER_BYTES = 1024 * 1024;

function createReader(file: FileHandle): Reader {
  const buffer = Buffer.alloc(BUFFER_BYTES);
  // The part of the file that is in the buffer.
  let [start, end, position] = [0, 0, 0];
  return {
    skip: (size) => {
      position += size;
    },
    read: async (size) => {
      if (position < start || position + size > end) {
        const { bytesRead } = await file.read(buffer, 0, BUFFER_BYTES, position);
        [start, end] = [position, position + bytesRead];
      }
      const bytes = buffer.subarray(position - start, Math.min(position + size, end) - start);
      position += size;
      return bytes;
    },
  };
}
