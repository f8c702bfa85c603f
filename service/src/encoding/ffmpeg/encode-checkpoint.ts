// A playable encode as JSON, with which another request encodes the other renditions.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AudioFacts } from '../../lifecycle/decisions/stream-report.ts';
import type { EncodeCheckpoint } from '../encoder.ts';
import { type CmafTrack, initName } from '../model/cmaf-track.ts';
import { planChunkSpecs } from './chunked-phase.ts';
import { filesOf } from './publish-tracks.ts';
import type { PlannedEncode } from './planned-encode.ts';
import type { Session } from './ffmpeg-session.ts';

type FirstPhase = { readonly tracks: readonly CmafTrack[]; readonly audio: readonly AudioFacts[] };

type CheckpointState = FirstPhase & {
  readonly plan: Omit<PlannedEncode, 'session' | 'startedAt' | 'published' | 'stored'>;
  readonly startedAt: string;
  /** Base64 of the init segments, in the order of the tracks. */
  readonly inits: readonly string[];
};

/** The segments of the first phase were published before. */
export async function createCheckpoint(
  planned: PlannedEncode,
  { tracks, audio }: FirstPhase,
): Promise<EncodeCheckpoint> {
  const { session, startedAt, published, stored, ...plan } = planned;
  const inits = await Promise.all(
    tracks.map(({ id }) => readFile(join(session.request.workFolder, initName(id)), 'base64')),
  );
  const state: CheckpointState = { plan, tracks, audio, startedAt: startedAt.toISOString(), inits };
  return {
    durationMs: Math.round(planned.source.timeline.durationSeconds * 1000),
    isDividable: planChunkSpecs(planned, 1, tracks).length > 0,
    state,
  };
}

/** Only a checkpoint of `createCheckpoint` has such a state. */
export async function openCheckpoint(
  session: Session,
  checkpoint: EncodeCheckpoint,
): Promise<FirstPhase & { readonly planned: PlannedEncode }> {
  const { plan, tracks, audio, startedAt, inits } = checkpoint.state as CheckpointState;
  const { workFolder } = session.request;
  for (const [index, { id }] of tracks.entries())
    await writeFile(join(workFolder, initName(id)), Buffer.from(inits[index] ?? '', 'base64'));
  const planned = {
    ...plan,
    session,
    startedAt: new Date(startedAt),
    published: new Set(filesOf(tracks, workFolder).map(({ name }) => name)),
    stored: new Set(tracks.flatMap(({ segments }) => segments.map(({ name }) => name))),
  };
  return { planned, tracks, audio };
}
