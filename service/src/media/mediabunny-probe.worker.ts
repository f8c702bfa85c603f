// Looks into one untrusted video at a time, in a process that may be killed: hostile bytes make mediabunny hang or run out of memory.
import {
  CustomSource,
  EncodedPacketSink,
  Input,
  type InputFormat,
  type InputTrack,
  type InputVideoTrack,
  Logging,
  LogLevel,
  MATROSKA,
  MP4,
  MPEG_TS,
  QTFF,
  WEBM,
} from 'mediabunny';
import type { Container, MediaFacts, ProbeResult } from './probe.ts';
import { type FromWorker, PROBE_BYTES, type ToWorker } from './probe-message.ts';

/** Never all formats: a playlist would open other files. */
const FORMATS: Record<Container, InputFormat[]> = {
  mov: [MP4, QTFF],
  matroska: [MATROSKA, WEBM],
  mpegts: [MPEG_TS],
};
const BUDGET = { bytes: PROBE_BYTES, reads: 5000 };
const MAX_PIXELS = 36_000_000;
const MAX_DURATION_MS = 2 ** 31 - 1;

type Size = readonly [width: number | null, height: number | null];
const UNKNOWN: Size = [null, null];

const WORN_CPU_MICROSECONDS = 60_000_000;

const awaited = new Map<number, (bytes: Uint8Array) => void>();
let reads = 0;

const send = (message: FromWorker) => process.send?.(message);

Logging.level = LogLevel.Silent;
process.on('disconnect', () => process.exit(0));
process.on('message', hear);
process.send?.('ready');

function hear(message: ToWorker): void {
  if (message.kind === 'look') {
    void look(message.container, message.sizeBytes).then(answer);
    return;
  }
  awaited.get(message.id)?.(message.bytes);
  awaited.delete(message.id);
}

function answer(result: ProbeResult): void {
  const { user, system } = process.cpuUsage();
  awaited.clear();
  send({ kind: 'seen', result, isWorn: user + system > WORN_CPU_MICROSECONDS });
}

async function look(container: Container, sizeBytes: number): Promise<ProbeResult> {
  using input = new Input({ formats: FORMATS[container], source: boundedSource(sizeBytes) });
  const tracks = await known(input.getTracks());
  const video = tracks?.find((track) => track.isVideoTrack());
  const audio = tracks?.find((track) => track.isAudioTrack());
  if (!tracks || (tracks.length === 0 && !isLeftToEncoder(container))) return { refused: 'not_media' };
  if (!video && !isLeftToEncoder(container)) return { refused: 'no_video_track' };
  const shown = video ? await shownSize(video) : UNKNOWN;
  if (video && (isTooLarge(shown) || isTooLarge(await codedSize(video))))
    return { refused: 'too_large_picture' };
  const used = [video, audio].filter((track) => track !== undefined);
  if (container === 'mov' && (await isTruncated(used))) return { refused: 'truncated' };
  const [width, height] = isLeftToEncoder(container) ? UNKNOWN : shown;
  const facts: MediaFacts = {
    width,
    height,
    durationMs: await durationOf(input, used),
    hasVideo: video !== undefined,
    hasAudio: audio !== undefined,
  };
  return { facts };
}

/** In MPEG-TS, MPEG-2 pictures are not seen, and interlaced ones seem to have half their height. */
const isLeftToEncoder = (container: Container) => container === 'mpegts';

/** Asks the service for bytes until the budget is spent (B4: ≤ 64 MiB). */
function boundedSource(sizeBytes: number): CustomSource {
  const left = { ...BUDGET };
  return new CustomSource({
    getSize: () => sizeBytes,
    read(start, end) {
      left.reads -= 1;
      if (left.reads < 0 || left.bytes < end - start) throw new Error('more bytes than a probe may need');
      left.bytes -= end - start;
      return read(start, end);
    },
    prefetchProfile: 'fileSystem', // with none an MPEG-TS costs 28 times the CPU
    handleUnhandledError: () => {}, // a read ahead that nobody waits for: whoever needs these bytes asks again
  });
}

function read(start: number, end: number): Promise<Uint8Array> {
  const id = reads++;
  send({ kind: 'read', id, start, end });
  return new Promise((resolve) => awaited.set(id, resolve));
}

/** undefined where the file is too broken for this one fact: the others may still be right. */
async function known<T>(fact: Promise<T>): Promise<T | undefined> {
  try {
    return await fact;
  } catch {
    return undefined;
  }
}

async function shownSize(video: InputVideoTrack): Promise<Size> {
  return [pixels(await known(video.getDisplayWidth())), pixels(await known(video.getDisplayHeight()))];
}

async function codedSize(video: InputVideoTrack): Promise<Size> {
  return [pixels(await known(video.getCodedWidth())), pixels(await known(video.getCodedHeight()))];
}

const pixels = (length = 0) => (length >= 1 ? Math.round(length) : null);
const isTooLarge = ([width, height]: Size) => (width ?? 1) * (height ?? 1) > MAX_PIXELS;

/** A sample that is listed has no bytes: the index lies in front, and the end of the file is missing. */
async function isTruncated(tracks: readonly InputTrack[]): Promise<boolean> {
  for (const track of tracks) {
    const sink = new EncodedPacketSink(track);
    const listed = await known(sink.getPacket(Number.POSITIVE_INFINITY, { metadataOnly: true }));
    if (listed && (await known(sink.getPacket(Number.POSITIVE_INFINITY))) === null) return true;
  }
  return false;
}

/** From what is shown first: a start below zero is priming or hidden by an edit list. */
async function durationOf(input: Input, tracks: InputTrack[]): Promise<number | null> {
  const end =
    (await known(input.computeDuration(tracks))) ?? (await known(input.getDurationFromMetadata(tracks))) ?? 0;
  const start = (await known(input.getFirstTimestamp(tracks))) ?? 0;
  const milliseconds = Math.round((end - Math.max(0, start)) * 1000);
  return milliseconds > 0 && milliseconds <= MAX_DURATION_MS ? milliseconds : null;
}
