// Renditions in reports, merged so that order and repetition do not matter (contract B6).
import { RENDITION_STATES, type RenditionState } from '@mediary/contract/enums';

export type Rendition = {
  /** In pixels; identifies a rendition. */
  readonly height: number;
  readonly width?: number;
  readonly state: RenditionState;
  /** Average bits per second; null until known. */
  readonly bitrate?: number | null;
};

/**
 * The union by height: the furthest state, and for equal states the greater figures, so that the result is
 * the same in any order.
 */
export function mergeRenditions(
  known: readonly Rendition[],
  reported: readonly Rendition[],
): readonly Rendition[] {
  if (reported.length === 0) return known;
  const byHeight = new Map(known.map((rendition) => [rendition.height, rendition]));
  for (const rendition of reported) {
    const other = byHeight.get(rendition.height);
    byHeight.set(rendition.height, other ? pickFurthest(other, rendition) : canonical(rendition));
  }
  return [...byHeight.values()].sort((a, b) => b.height - a.height);
}

function pickFurthest(a: Rendition, b: Rendition): Rendition {
  const lead = RENDITION_STATES.indexOf(a.state) - RENDITION_STATES.indexOf(b.state);
  if (lead !== 0) return canonical(lead > 0 ? a : b);
  return canonical({ ...a, width: greater(a.width, b.width), bitrate: greater(a.bitrate, b.bitrate) });
}

/** A number wins over null, and null over undefined. */
function greater<T extends number | null | undefined>(a: T, b: T): T {
  if (typeof a === 'number' && typeof b === 'number') return a > b ? a : b;
  if (typeof a === 'number' || b === undefined) return a;
  return b;
}

type RenditionUpdate = Pick<Rendition, 'height' | 'state'> & {
  readonly width?: number | undefined;
  readonly bitrate?: number | null | undefined;
};

/** Drops unknown members of reports. */
const canonical = ({ height, width, state, bitrate }: RenditionUpdate): Rendition => ({
  height,
  ...(width && { width }),
  state,
  ...(bitrate !== undefined && { bitrate }),
});
