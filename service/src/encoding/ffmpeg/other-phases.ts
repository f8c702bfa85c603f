// Runs the phases of an encode after the first one: on this machine, or in chunks on all of them.
import type { Warning } from '../../assets/asset.ts';
import { type ChunkRunner, EncodeError } from '../encoder.ts';
import type { CmafTrack } from '../model/cmaf-track.ts';
import type { SwitchingSet } from '../model/codecs.ts';
import { sortTracks } from '../plan/ladder/encoded-top.ts';
import { copySurround } from './audio/copy-surround.ts';
import { checkSource } from './check-phase.ts';
import { planChunkSpecs, runChunkedPhase } from './chunked-phase.ts';
import { runPhase } from './encode-phase.ts';
import { planEncodedTop, type PlannedEncode } from './planned-encode.ts';

export type EncodedTracks = {
  readonly planned: PlannedEncode;
  readonly tracks: readonly CmafTrack[];
  readonly warnings: readonly Warning[];
};

/**
 * Resolves with all tracks, those of the first phase included. Throws EncodeError if H.264 fails. A further
 * codec that fails only adds a warning.
 */
export async function runOtherPhases(
  planned: PlannedEncode,
  first: readonly CmafTrack[],
  encodeChunks?: ChunkRunner,
): Promise<EncodedTracks> {
  const tracks = [...first];
  const warnings: Warning[] = [];
  for (const [index, { video }] of planned.phases.entries()) {
    if (index === 0) continue;
    const top = video === 'copy' ? undefined : video[0];
    try {
      tracks.push(...(await runOneOrMany(planned, { index, earlier: tracks, encodeChunks })));
    } catch (error) {
      if (!top || top.codec === 'h264' || !(error instanceof EncodeError)) throw error;
      warnings.push({
        code: 'extra_codec_failed',
        message: `The video has no ${describeSet(top)} renditions: ${error.message}`,
      });
    }
  }
  warnings.push(...(await checkSource(planned)));
  const extended = planEncodedTop(planned, tracks);
  const index = planned.phases.length;
  if (extended !== planned)
    tracks.push(...(await runOneOrMany(extended, { index, earlier: tracks, encodeChunks })));
  const surround = await copySurround(planned);
  tracks.push(...surround.tracks);
  warnings.push(...surround.warnings);
  return { planned: extended, tracks: sortTracks(tracks, extended.encodedTop), warnings };
}

type NextPhase = {
  readonly index: number;
  readonly earlier: readonly CmafTrack[];
  readonly encodeChunks: ChunkRunner | undefined;
};

/** On this machine, or in chunks on all of them. */
function runOneOrMany(
  planned: PlannedEncode,
  { index, earlier, encodeChunks }: NextPhase,
): Promise<readonly CmafTrack[]> {
  const specs = encodeChunks ? planChunkSpecs(planned, index, earlier) : [];
  return encodeChunks && specs.length > 0
    ? runChunkedPhase(planned, { index, earlier, specs, encodeChunks })
    : runPhase(planned, index, earlier);
}

const describeSet = ({ codec, range }: SwitchingSet): string =>
  [codec, ...(range === 'sdr' ? [] : [range])].join(' ').toUpperCase();
