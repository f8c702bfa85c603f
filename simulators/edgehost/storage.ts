// The storage of an account in minutes of video: an open upload reserves its longest duration until it is
// processed, fails, expires or is deleted.
import { type JsonObject, ResponseError } from '../route.ts';
import { type Account, addVideo, type Entry } from './account.ts';
import { failure, success } from './envelope.ts';
import type { EdgehostVideo } from './video.ts';

const usedSeconds = ({ entries, context }: Account): number =>
  [...entries.values()].reduce((sum, { video }) => sum + secondsOf(video, context.clock.now()), 0);

function secondsOf(
  { status: { state }, duration, maxDurationSeconds, uploadExpiry }: EdgehostVideo,
  now: number,
): number {
  if (state === 'error') return 0;
  if (state === 'ready') return Math.ceil(duration);
  const isExpired = state === 'pendingupload' && Date.parse(uploadExpiry ?? '') < now;
  return isExpired ? 0 : (maxDurationSeconds ?? 0);
}

/** Refuses an upload whose reservation does not fit. */
export function addUpload(
  account: Account,
  options: JsonObject,
  formUpload: Entry['formUpload'] = 'none',
): EdgehostVideo {
  const reserved = Number(options['maxDurationSeconds'] ?? 0);
  const { storageMinutes } = account.settings;
  if (usedSeconds(account) + reserved > storageMinutes * 60)
    throw new ResponseError(
      failure(413, 10011, `Storage capacity exceeded, your account is allocated ${storageMinutes} minutes`),
    );
  return addVideo(account, options, formUpload);
}

export const showStorage = (account: Account) =>
  success({
    totalStorageMinutes: usedSeconds(account) / 60,
    totalStorageMinutesLimit: account.settings.storageMinutes,
    videoCount: account.entries.size,
  });
