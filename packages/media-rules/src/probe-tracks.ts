// What the probes of video and audio files read of tracks.
import { EncodedPacketSink, type Input, type InputTrack } from 'mediabunny';
import { undefinedIfBroken } from './video-traits.ts';

const MAX_DURATION_MS = 2 ** 31 - 1;

/** True when an indexed sample has no bytes, because the end of the file is missing. */
export async function isTruncated(tracks: readonly InputTrack[]): Promise<boolean> {
  for (const track of tracks) {
    const sink = new EncodedPacketSink(track);
    const listed = await undefinedIfBroken(sink.getPacket(Number.POSITIVE_INFINITY, { metadataOnly: true }));
    if (listed && (await undefinedIfBroken(sink.getPacket(Number.POSITIVE_INFINITY))) === null) return true;
  }
  return false;
}

/** Measured from the first packet that is played: an edit list hides a negative start, or it is priming. */
export async function durationOf(input: Input, tracks: InputTrack[]): Promise<number | null> {
  const end =
    (await undefinedIfBroken(input.computeDuration(tracks))) ??
    (await undefinedIfBroken(input.getDurationFromMetadata(tracks))) ??
    0;
  const start = (await undefinedIfBroken(input.getFirstTimestamp(tracks))) ?? 0;
  const milliseconds = Math.round((end - Math.max(0, start)) * 1000);
  return milliseconds > 0 && milliseconds <= MAX_DURATION_MS ? milliseconds : null;
}
