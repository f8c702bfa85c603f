// Publishes the tracks of the first phase, so that players can start before the run has ended.
import { join } from 'node:path';
import type { EncodedFile } from '../encoder.ts';
import { type CmafTrack, initName } from '../model/cmaf-track.ts';
import { awaitedTracks } from '../packaging/awaited-tracks.ts';
import type { RunIndex } from '../packaging/run-index.ts';
import { renditionsOf } from '../plan/ladder/encode-progress.ts';
import { toVideoFacts } from '../plan/source/source-traits.ts';
import { toAudioFacts } from './measured-audio.ts';
import type { PlannedEncode } from './planned-encode.ts';

/** Players can play the tracks from now on; they get the other renditions when the run ends. */
export async function publish(encode: PlannedEncode, tracks: readonly CmafTrack[]): Promise<void> {
  const { session, source, rungs, normalization, published, phases } = encode;
  const { workFolder, onPlayable } = session.request;
  if (!onPlayable) return;
  const files = filesOf(tracks, workFolder).filter(({ name }) => !published.has(name));
  const isComplete = encode.completedAt !== undefined;
  await onPlayable({
    files,
    index: indexOf(encode, tracks),
    renditions: renditionsOf({ rungs, tracks: isComplete ? tracks : [], current: phases[0] }),
    container: session.input.container,
    video: toVideoFacts(source),
    audio: toAudioFacts(source.audio, normalization),
    ...source.frame.displaySize,
    durationMs: Math.round(source.timeline.durationSeconds * 1000),
    chapters: source.chapters,
  });
  for (const { name } of files) published.add(name);
}

function indexOf(
  { source: { timeline }, phases, replacedTrack, startedAt, completedAt }: PlannedEncode,
  tracks: readonly CmafTrack[],
): RunIndex {
  const { frameRate, durationSeconds } = timeline;
  const awaited = awaitedTracks(phases.slice(1), frameRate);
  const isComplete = completedAt !== undefined;
  const growth = {
    isComplete,
    awaited,
    startedAt: startedAt.toISOString(),
    publishedAt: new Date().toISOString(),
    durationSeconds,
  };
  return {
    frameRate,
    tracks,
    early: tracks.map(({ id }) => id),
    replaced: replacedTrack,
    completedAt,
    growth: isComplete && awaited.length === 0 ? undefined : growth,
  };
}

export const filesOf = (tracks: readonly CmafTrack[], folder: string): EncodedFile[] =>
  tracks
    .flatMap(({ id, segments }) => [initName(id), ...segments.map(({ name }) => name)])
    .map((name) => ({ name, path: join(folder, name) }));
