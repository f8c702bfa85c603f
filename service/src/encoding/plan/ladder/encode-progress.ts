// Computes the progress of an encode from that of its phases: the percentage and the state of each rendition.
import type { Rendition } from '../../../assets/renditions.ts';
import { type CmafTrack, averageBitrate, isVideo } from '../../model/cmaf-track.ts';
import { frameCost } from './encode-cost.ts';
import { type EncodePhase, rungTrackIds } from './encode-phases.ts';
import type { EncodedTop } from './encoded-top.ts';
import type { Rung } from './ladder.ts';

/** Phases before `phase` have ended; `part` of it is done, from 0 to 1. */
type PhaseProgress = {
  readonly phases: readonly EncodePhase[];
  readonly phase: number;
  readonly part: number;
};

const MAX_PERCENT = 99;
/** A copy costs as much as encoding this many pixels per frame. */
const COPY_PIXELS = 20_000;

/** Whole percent, weighted by the pixels that each phase encodes and by the cost of their codec. */
export function percentOf({ phases, phase, part }: PhaseProgress): number {
  const costs = phases.map(({ video }) => (video === 'copy' ? COPY_PIXELS : frameCost(video)));
  const done = sum(costs.slice(0, phase)) + (costs[phase] ?? 0) * Math.min(1, part);
  return Math.min(MAX_PERCENT, Math.floor((100 * done) / sum(costs)));
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

type RenditionProgress = {
  readonly rungs: readonly Rung[];
  /** The tracks of the phases that have ended. */
  readonly tracks: readonly CmafTrack[];
  /** Undefined after the last phase: the renditions without a track have failed. */
  readonly current: EncodePhase | undefined;
  readonly encodedTop?: EncodedTop;
};

type ListedRung = { readonly rung: Rung; readonly id: number };

/** One for each rung, and one more for a top rung that is encoded beside its copy. */
function listRungs({ rungs, encodedTop }: RenditionProgress): readonly ListedRung[] {
  const ids = rungTrackIds(rungs);
  const [top, ...lower] = rungs.map((rung, index) => ({ rung, id: ids[index] as number }));
  if (!top || !encodedTop) return top ? [top, ...lower] : [];
  return [...(encodedTop.isInstead ? [] : [top]), { ...top, id: encodedTop.trackId }, ...lower];
}

/** From the top. Renditions that name no codec and no range are H.264 in SDR. */
export function renditionsOf(progress: RenditionProgress): readonly Rendition[] {
  const { tracks, current } = progress;
  return listRungs(progress).map(({ rung: { width, height, codec, range }, id }) => {
    const track = tracks.find((each) => each.id === id);
    const named = {
      ...(codec !== 'h264' && { codec }),
      ...(range !== 'sdr' && { dynamic_range: range }),
    };
    return track && isVideo(track)
      ? { ...track.size, ...named, state: 'ready', bitrate: averageBitrate(track) }
      : { width, height, ...named, state: pendingState(id, current), bitrate: null };
  });
}

function pendingState(id: number, current: EncodePhase | undefined): Rendition['state'] {
  if (!current) return 'failed';
  return current.trackIds.includes(id) ? 'encoding' : 'queued';
}
