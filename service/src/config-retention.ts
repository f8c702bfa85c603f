// Settings of how long uploads, playback tokens, webhooks and deleted assets are kept.
import type { Settings } from './platform/settings.ts';

export type Retention = {
  readonly uploadTtlSeconds: number;
  /** An upload that is open for longer expires, although bytes arrive. */
  readonly uploadMaxAgeSeconds: number;
  readonly playbackTokenTtlSeconds: number;
  readonly webhookRetentionDays: number;
  readonly trashDays: number;
  /** How long the objects of purged and replaced assets stay in the store. */
  readonly purgeGraceDays: number;
};

const DAY_S = 86_400;

export const readRetention = ({ integer }: Settings): Retention => ({
  ...readUploadLifetimes({ integer }),
  playbackTokenTtlSeconds: integer('PLAYBACK_TOKEN_TTL_S', { fallback: 21_600, min: 1, max: 365 * DAY_S }),
  webhookRetentionDays: integer('WEBHOOK_RETENTION_DAYS', { fallback: 30, min: 7, max: 3650 }),
  trashDays: integer('TRASH_DAYS', { fallback: 30, min: 0, max: 3650 }),
  purgeGraceDays: integer('PURGE_GRACE_DAYS', { fallback: 7, min: 0, max: 3650 }),
});

function readUploadLifetimes({ integer }: Pick<Settings, 'integer'>) {
  const uploadTtlSeconds = integer('UPLOAD_TTL_S', { fallback: DAY_S, min: 1, max: 365 * DAY_S });
  const uploadMaxAgeSeconds = integer('UPLOAD_MAX_AGE_S', {
    fallback: Math.max(7 * DAY_S, uploadTtlSeconds),
    min: uploadTtlSeconds,
    max: 365 * DAY_S,
  });
  return { uploadTtlSeconds, uploadMaxAgeSeconds };
}
