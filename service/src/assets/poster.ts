// Rules for the poster that a caller chooses for a video (contract B2).
import { badRequest } from '../platform/http/errors.ts';
import type { Asset } from './asset.ts';

const FIELD = 'poster_time_ms';

type PosterChoice = { readonly timeMs: number | null | undefined; readonly isHosted: boolean };

/** Throws BAD_REQUEST with the field. Null, the automatic choice, is valid for every asset. */
export function assertPosterTime(
  { kind, duration_ms: end }: Pick<Asset, 'kind' | 'duration_ms'>,
  { timeMs, isHosted }: PosterChoice,
): void {
  if (timeMs === null || timeMs === undefined) return;
  if (kind !== 'video' || isHosted)
    throw badRequest(`${FIELD} can be set only for videos that this service encodes`, {
      field: FIELD,
    });
  if (end !== null && timeMs >= end)
    throw badRequest(`${FIELD} must be before the end of the video, at ${end}`, {
      field: FIELD,
      reason: 'above_maximum',
      limit: end,
    });
}

/** True when the current thumbnail is not the chosen one. A run that has not ended has none yet. */
export const isPosterDue = ({
  playback,
  poster_time_ms: chosen,
}: Pick<Asset, 'playback' | 'poster_time_ms'>): boolean =>
  playback?.kind === 'own' && !playback.growing && (playback.posterTimeMs ?? null) !== chosen;

/** True when all files are stored and their report, which names the thumbnail's time, is still expected. */
export const awaitsReport = ({
  stream_status,
  encoded_run,
}: Pick<Asset, 'stream_status' | 'encoded_run'>): boolean =>
  stream_status === 'processing' && encoded_run > 0;
