// When an asset expires: the requested time, and what must not outlive it (contract B1, B5).
import { badRequest } from '../platform/http/errors.ts';
import type { Asset } from './asset.ts';
import { isCalendarDay } from './text-limits.ts';

type Expiring = Pick<Asset, 'expires_at'>;

const FIELD = { field: 'expires_at' };
const MAX_YEARS = 100;

/** The schema checks the format, but not the day. Throws BAD_REQUEST. */
export function parseExpiry(text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const time = new Date(text);
  if (Number.isNaN(time.getTime()) || !isCalendarDay(text.slice(0, 10)))
    throw badRequest('expires_at must be an RFC 3339 time with its zone', FIELD);
  if (time <= now)
    throw badRequest(`expires_at must be in the future; it is ${now.toISOString()} now`, {
      ...FIELD,
      reason: 'below_minimum',
      limit: now.toISOString(),
    });
  const latest = new Date(now);
  latest.setUTCFullYear(now.getUTCFullYear() + MAX_YEARS);
  if (time > latest)
    throw badRequest(`expires_at must be at most ${MAX_YEARS} years ahead; null means never`, {
      ...FIELD,
      reason: 'above_maximum',
      limit: latest.toISOString(),
    });
  return time;
}

/** True before the job has deleted the asset, too, and while a legal hold keeps it. */
export const isExpired = ({ expires_at: expires }: Expiring, now: Date): boolean =>
  expires !== null && expires <= now;

/** `seconds`, or fewer where the asset expires earlier; never below zero. */
export const limitSeconds = (seconds: number, { expires_at: expires }: Expiring, now: Date): number =>
  expires === null
    ? seconds
    : Math.max(0, Math.min(seconds, Math.floor((expires.getTime() - now.getTime()) / 1000)));

/** Limits `max-age` and `s-maxage` of a `Cache-Control` header. */
export const limitMaxAge = (cacheControl: string, asset: Expiring, now: Date): string =>
  asset.expires_at === null
    ? cacheControl
    : cacheControl.replace(/(?<=age=)\d+/g, (seconds) => `${limitSeconds(Number(seconds), asset, now)}`);
