// Worker process of the probe: parses one untrusted video at a time, which may hang or exhaust memory.
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
import type { DefaultContainer, MediaFacts, ProbeResult } from './probe.ts';
import { readTraits, undefinedIfBroken } from './mediabunny-traits.worker.ts';

export type ServiceMessage =
  | {
      readonly kind: 'probe';
      readonly container: DefaultContainer;
      readonly sizeBytes: number;
      readonly maxBytes: number;
    }
  | { readonly kind: 'bytes'; readonly id: number; readonly bytes: Uint8Array };

/** `shouldRetire`: the process has used much of its CPU time limit. */
export type WorkerMessage =
  | { readonly kind: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly kind: 'result'; readonly result: ProbeResult; readonly shouldRetire: boolean };

/** Only the declared container, because a playlist could open other files. */
const FORMATS: Record<DefaultContainer, InputFormat[]> = {
  mov: [MP4, QTFF],
  matroska: [MATROSKA, WEBM],
  mpegts: [MPEG_TS],
};
const MAX_READS = 5000;
const MAX_PIXELS = 36_000_000;
const MAX_DURATION_MS = 2 ** 31 - 1;

type Size = readonly [width: number | null, height: number | null];
const UNKNOWN: Size = [null, null];

/** Half of the CPU time limit of the process. */
const RETIRE_CPU_MICROSECONDS = 60_000_000;

const pendingReads = new Map<number, (bytes: Uint8Array) => void>();
let reads = 0;

const send = (message: WorkerMessage) => process.send?.(message);

Logging.level = LogLevel.Silent;
process.on('disconnect', () => process.exit(0));
process.on('message', handleMessage);
process.send?.('ready');

function handleMessage(message: ServiceMessage): void {
  if (message.kind === 'probe') {
    void probe(message).then(sendResult);
    return;
  }
  pendingReads.get(message.id)?.(message.bytes);
  pendingReads.delete(message.id);
}

function sendResult(result: ProbeResult): void {
  const { user, system } = process.cpuUsage();
  pendingReads.clear();
  send({ kind: 'result', result, shouldRetire: user + system > RETIRE_CPU_MICROSECONDS });
}

type ProbeRequest = Extract<ServiceMessage, { kind: 'probe' }>;

async function probe({ container, sizeBytes, maxBytes }: ProbeRequest): Promise<ProbeResult> {
  using input = new Input({ formats: FORMATS[container], source: boundedSource(sizeBytes, maxBytes) });
  const tracks = await undefinedIfBroken(input.getTracks());
  const video = tracks?.find((track) => track.isVideoTrack());
  const audio = tracks?.find((track) => track.isAudioTrack());
  if (!tracks || (tracks.length === 0 && !isLeftToEncoder(container))) return { refused: 'not_media' };
  if (!video && !isLeftToEncoder(container)) return { refused: 'no_video_track' };
  const displaySize = video ? await readDisplaySize(video) : UNKNOWN;
  if (video && (isTooLarge(displaySize) || isTooLarge(await readCodedSize(video))))
    return { refused: 'picture_too_large' };
  const used = [video, audio].filter((track) => track !== undefined);
  if (container === 'mov' && (await isTruncated(used))) return { refused: 'truncated' };
  const [width, height] = isLeftToEncoder(container) ? UNKNOWN : displaySize;
  const facts: MediaFacts = {
    width,
    height,
    durationMs: await durationOf(input, used),
    hasVideo: video !== undefined,
    hasAudio: audio !== undefined,
    traits: await readTraits(container, { video, all: tracks }),
  };
  return { facts };
}

/** In MPEG-TS, mediabunny does not find MPEG-2 video and reports half the height of interlaced video. */
const isLeftToEncoder = (container: DefaultContainer) => container === 'mpegts';

/** Requests bytes from the service, up to the budget (contract B4). */
function boundedSource(sizeBytes: number, maxBytes: number): CustomSource {
  const remaining = { bytes: maxBytes, reads: MAX_READS };
  return new CustomSource({
    getSize: () => sizeBytes,
    read(start, end) {
      remaining.reads -= 1;
      if (remaining.reads < 0 || remaining.bytes < end - start)
        throw new Error('the probe exceeds its read budget');
      remaining.bytes -= end - start;
      return read(start, end);
    },
    prefetchProfile: 'fileSystem', // without it, MPEG-TS needs 28 times the CPU time
    handleUnhandledError: () => {}, // errors of prefetches; the actual read fails again
  });
}

function read(start: number, end: number): Promise<Uint8Array> {
  const id = reads++;
  send({ kind: 'read', id, start, end });
  return new Promise((resolve) => pendingReads.set(id, resolve));
}

async function readDisplaySize(video: InputVideoTrack): Promise<Size> {
  return [
    pixels(await undefinedIfBroken(video.getDisplayWidth())),
    pixels(await undefinedIfBroken(video.getDisplayHeight())),
  ];
}

async function readCodedSize(video: InputVideoTrack): Promise<Size> {
  return [
    pixels(await undefinedIfBroken(video.getCodedWidth())),
    pixels(await undefinedIfBroken(video.getCodedHeight())),
  ];
}

const pixels = (length = 0) => (length >= 1 ? Math.round(length) : null);
const isTooLarge = ([width, height]: Size) => (width ?? 1) * (height ?? 1) > MAX_PIXELS;

/** True when an indexed sample has no bytes, because the end of the file is missing. */
async function isTruncated(tracks: readonly InputTrack[]): Promise<boolean> {
  for (const track of tracks) {
    const sink = new EncodedPacketSink(track);
    const listed = await undefinedIfBroken(sink.getPacket(Number.POSITIVE_INFINITY, { metadataOnly: true }));
    if (listed && (await undefinedIfBroken(sink.getPacket(Number.POSITIVE_INFINITY))) === null) return true;
  }
  return false;
}

/** Measured from the first displayed frame. A negative start is priming or hidden by an edit list. */
async function durationOf(input: Input, tracks: InputTrack[]): Promise<number | null> {
  const end =
    (await undefinedIfBroken(input.computeDuration(tracks))) ??
    (await undefinedIfBroken(input.getDurationFromMetadata(tracks))) ??
    0;
  const start = (await undefinedIfBroken(input.getFirstTimestamp(tracks))) ?? 0;
  const milliseconds = Math.round((end - Math.max(0, start)) * 1000);
  return milliseconds > 0 && milliseconds <= MAX_DURATION_MS ? milliseconds : null;
}
