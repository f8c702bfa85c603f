// Estimates how much work an encode is before it starts, in millions of pixels, from the facts of the probe.
import type { Asset } from '../../assets/asset.ts';
import { frameCost } from '../plan/ladder/encode-cost.ts';
import { chooseLadder, type Ladder } from '../plan/ladder/ladder.ts';

export type EncodeSource = Pick<Asset, 'kind' | 'duration_ms' | 'width' | 'height' | 'media'>;

/** `first`: until the video plays. */
export type EncodeWork = { readonly first: number; readonly total: number };

/** The probe does not count frames. */
const USUAL_RATE = 30;
const MAX_RATE = 60;
/** Reading a picture costs this share of encoding it. */
const DECODE_SHARE = 0.3;
/** Sound, files and everything else cost as much as this many pixels a frame. */
const OTHER_PIXELS = 20_000;
const MILLION = 1_000_000;

export function estimateWork(source: EncodeSource, ladder: Ladder): EncodeWork {
  const { kind, duration_ms: durationMs, width, height, media } = source;
  const rate = Math.min(media?.video?.fps ?? USUAL_RATE, MAX_RATE);
  const frames = ((durationMs ?? 0) / 1000) * rate;
  const hasPicture = kind === 'video' && width !== null && height !== null;
  const picture = hasPicture ? { width, height } : undefined;
  const rungs = picture ? chooseLadder(picture, { ladder }) : [];
  const lowest = rungs.findLast(({ codec, range }) => codec === 'h264' && range === 'sdr');
  const read = OTHER_PIXELS + (picture ? picture.width * picture.height * DECODE_SHARE : 0);
  const [firstCost, totalCost] = [read + frameCost(lowest ? [lowest] : []), read + frameCost(rungs)];
  return {
    first: Math.ceil((frames * firstCost) / MILLION),
    total: Math.ceil((frames * (totalCost + (rungs.length > 1 ? read : 0))) / MILLION),
  };
}
