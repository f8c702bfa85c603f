// Which picture of a video its thumbnail shows, where the caller chose one (contract B2).
import { badRequest } from '../platform/errors.ts';
import type { Asset } from './asset.ts';

const FIELD = 'poster_time_ms';

type Chosen = { readonly timeMs: number | null | undefined; readonly isHosted: boolean };

/** Throws BAD_REQUEST with the field. To leave the choice to the service is right for every asset. */
export function assertPosterTime(
  { kind, duration_ms: end }: Pick<Asset, 'kind' | 'duration_ms'>,
  { timeMs, isHosted }: Chosen,
): void {
  if (timeMs === null || timeMs === undefined) return;
  if (kind === 'image' || isHosted)
    throw badRequest(`${FIELD}: only videos that are encoded here have a poster of their choice`, {
      field: FIELD,
    });
  if (end !== null && timeMs >= end)
    throw badRequest(`${FIELD} must be before the end of the video, at ${end}`, {
      field: FIELD,
      rule: 'exclusiveMaximum',
      limit: end,
    });
}

/** Whether the thumbnail that is shown is of another time than is wanted. */
export const isPosterDue = ({
  playback,
  poster_time_ms: wanted,
}: Pick<Asset, 'playback' | 'poster_time_ms'>): boolean =>
  playback?.kind === 'own' && (playback.posterTimeMs ?? null) !== wanted;

/** Our files are whole and not yet shown: what time their thumbnail is of is known once their report has come. */
export const awaitsReport = ({
  stream_status,
  encoded_try,
}: Pick<Asset, 'stream_status' | 'encoded_try'>): boolean =>
  stream_status === 'processing' && encoded_try > 0;
