// Reads the unusual properties of a video in the worker process of the probe.
import type { InputAudioTrack, InputTrack, InputVideoTrack } from 'mediabunny';
import type { DefaultContainer } from './video-facts.ts';
import type { VideoTraits } from './warnings.ts';

type Tracks = { readonly video: InputVideoTrack | undefined; readonly all: readonly InputTrack[] };

/** Ignores the error of a single property, because the others may still be valid. */
export async function undefinedIfBroken<T>(fact: Promise<T>): Promise<T | undefined> {
  try {
    return await fact;
  } catch {
    return undefined;
  }
}

/** In MPEG-TS, mediabunny does not find all tracks, so nothing can be said about those that are missing. */
export async function readTraits(container: DefaultContainer, { video, all }: Tracks): Promise<VideoTraits> {
  if (!video || container === 'mpegts') return {};
  // The types of browsers lack `pq` and `hlg`.
  const { transfer }: { transfer?: string | null } = (await undefinedIfBroken(video.getColorSpace())) ?? {};
  return {
    isHdr: transfer === 'pq' || transfer === 'hlg',
    isTurned: await isTurned(video),
    storedSize: await readStoredSize(video),
    audioChannels: await readChannels(all.filter((track) => track.isAudioTrack())),
    ...(container === 'mov' && {
      startSeconds: await undefinedIfBroken(video.getFirstTimestamp()),
      ...(await readFrameRate(video)),
    }),
  };
}

async function isTurned(video: InputVideoTrack): Promise<boolean> {
  const rotation = await undefinedIfBroken(video.getRotation());
  const isMirrored = await undefinedIfBroken(video.getFlip());
  return (rotation ?? 0) !== 0 || isMirrored === true;
}

async function readStoredSize(video: InputVideoTrack): Promise<VideoTraits['storedSize']> {
  const width = await undefinedIfBroken(video.getCodedWidth());
  const height = await undefinedIfBroken(video.getCodedHeight());
  return width && height ? { width, height } : undefined;
}

/** Null where the file does not tell. */
export async function readChannels(tracks: readonly InputAudioTrack[]): Promise<(number | null)[]> {
  const channels: (number | null)[] = [];
  for (const track of tracks) channels.push((await undefinedIfBroken(track.getNumberOfChannels())) ?? null);
  return channels;
}

/** MP4 and QuickTime index their frames, so that these are not read. */
const MAX_FRAMES = 1000;
/** Fewer frames have no rate. */
const MIN_FRAMES = 8;
/** Below this share of the underlying rate, frames are missing. */
const STEADY_SHARE = 0.9;

async function readFrameRate(
  video: InputVideoTrack,
): Promise<Pick<VideoTraits, 'hasVariableRate' | 'framesPerSecond'>> {
  const metrics = await undefinedIfBroken(video.computeFrameRateMetrics({ targetPacketCount: MAX_FRAMES }));
  if (!metrics || metrics.probedPacketCount < MIN_FRAMES) return {};
  const { averageFrameRate: framesPerSecond, underlyingFrameRate: rate } = metrics;
  return { framesPerSecond, hasVariableRate: rate === null || framesPerSecond < STEADY_SHARE * rate };
}
