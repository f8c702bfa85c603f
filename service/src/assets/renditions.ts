// Renditions in reports, merged so that order and repetition do not matter (contract B6).
import {
  EXTRA_CODECS,
  type ExtraCodec,
  HDR_RANGES,
  type HdrRange,
  RENDITION_STATES,
  type RenditionState,
} from '@mediary/contract/enums';

export type Rendition = {
  /** In pixels; identifies a rendition together with `codec` and `dynamic_range`. */
  readonly height: number;
  /** Omitted for H.264 and where it is unknown. */
  readonly codec?: ExtraCodec;
  /** Omitted for SDR and where it is unknown. */
  readonly dynamic_range?: HdrRange;
  readonly width?: number;
  readonly state: RenditionState;
  /** Average bits per second; null until known. */
  readonly bitrate?: number | null;
};

/**
 * The union by height, codec and dynamic range: the furthest state, and for equal states the greater figures,
 * so that the result is the same in any order.
 */
export function mergeRenditions(
  known: readonly Rendition[],
  reported: readonly Rendition[],
): readonly Rendition[] {
  if (reported.length === 0) return known;
  const byKey = new Map(known.map((rendition) => [keyOf(rendition), rendition]));
  for (const rendition of reported) {
    const other = byKey.get(keyOf(rendition));
    byKey.set(keyOf(rendition), other ? pickFurthest(other, rendition) : canonical(rendition));
  }
  return [...byKey.values()].sort(
    (a, b) => rangeRank(a) - rangeRank(b) || codecRank(a) - codecRank(b) || b.height - a.height,
  );
}

const codecRank = ({ codec }: RenditionUpdate): number => (codec ? EXTRA_CODECS.indexOf(codec) : -1);
const rangeRank = ({ dynamic_range: range }: RenditionUpdate): number =>
  range ? HDR_RANGES.indexOf(range) : -1;
const keyOf = (rendition: Rendition): string =>
  `${rangeRank(rendition)} ${codecRank(rendition)} ${rendition.height}`;

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
  readonly codec?: ExtraCodec;
  readonly dynamic_range?: HdrRange;
};

/** Drops unknown members of reports. */
const canonical = ({
  height,
  codec,
  dynamic_range: range,
  width,
  state,
  bitrate,
}: RenditionUpdate): Rendition => ({
  height,
  ...(codec && EXTRA_CODECS.includes(codec) && { codec }),
  ...(range && HDR_RANGES.includes(range) && { dynamic_range: range }),
  ...(width && { width }),
  state,
  ...(bitrate !== undefined && { bitrate }),
});
