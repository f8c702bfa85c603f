// What a retry does to an asset whose bytes are gone: the next attempt starts with another upload (contract B4).
import type { Asset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { openAttempt } from './stream-state.ts';
import { type Change, patchOf } from './change.ts';

export type Reopening = {
  readonly expiresAt: Date;
  /** When a hosted provider is asked about the upload; null for uploads to our store. */
  readonly checkAt: Date | null;
  /** Whether the new bytes must have the announced size and checksum too. */
  readonly isAnnouncementKept: boolean;
  readonly note: EventData;
};

/** Undefined where nothing failed. What was playable keeps playing until the new attempt is ready. */
export function decideReopening(asset: Asset, reopening: Reopening): Change | undefined {
  if (asset.stream_status !== 'failed') return undefined;
  const attempt = asset.attempt + 1;
  return {
    set: patchOf(asset, {
      ...openAttempt(asset, attempt),
      stream_status: 'pending_upload',
      uploaded_at: null,
      size_bytes: null,
      checksum_sha256: null,
      upload_expires_at: reopening.expiresAt,
      provider_video_id: null,
      reconcile_at: reopening.checkAt,
      ...(!reopening.isAnnouncementKept && { announced_size_bytes: null, announced_sha256: null }),
    }),
    events: [
      newEvent('asset.updated', { attempt, source: 'caller', upload_reopened: true, ...reopening.note }),
    ],
    jobs: [{ name: 'purge-asset', payload: { assetId: asset.id } }],
  };
}
