// The rungs of a video as reports tell of them, merged so that order and repetition do not matter (contract B6).
import { RENDITION_STATES, type RenditionState } from '@mediary/contract/enums';

export type Rendition = {
  /** Pixels; what tells one rung from another. */
  readonly height: number;
  readonly width?: number;
  readonly state: RenditionState;
  /** Average bits per second; null until known. */
  readonly bitrate?: number | null;
};

/** The union by height; of two that tell of one rung the one further on, and of equals the greater of each figure, so that the result is the same in any order. */
export function mergeRenditions(
  known: readonly Rendition[],
  told: readonly Rendition[],
): readonly Rendition[] {
  if (told.length === 0) return known;
  const byHeight = new Map(known.map((rendition) => [rendition.height, rendition]));
  for (const rendition of told) {
    const other = byHeight.get(rendition.height);
    byHeight.set(rendition.height, other ? further(other, rendition) : canonical(rendition));
  }
  return [...byHeight.values()].sort((a, b) => b.height - a.height);
}

function further(a: Rendition, b: Rendition): Rendition {
  const lead = RENDITION_STATES.indexOf(a.state) - RENDITION_STATES.indexOf(b.state);
  if (lead !== 0) return canonical(lead > 0 ? a : b);
  return canonical({ ...a, width: greater(a.width, b.width), bitrate: greater(a.bitrate, b.bitrate) });
}

/** A figure counts more than null, and null more than nothing. */
function greater<T extends number | null | undefined>(a: T, b: T): T {
  if (typeof a === 'number' && typeof b === 'number') return a > b ? a : b;
  if (typeof a === 'number' || b === undefined) return a;
  return b;
}

type RenditionUpdate = Pick<Rendition, 'height' | 'state'> & {
  readonly width?: number | undefined;
  readonly bitrate?: number | null | undefined;
};

/** No members but ours, so that a stranger's own do not end up in the asset. */
const canonical = ({ height, width, state, bitrate }: RenditionUpdate): Rendition => ({
  height,
  ...(width && { width }),
  state,
  ...(bitrate !== undefined && { bitrate }),
});
