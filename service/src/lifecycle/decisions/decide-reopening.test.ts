// A failed asset without usable bytes waits for another upload (contract B4).
import { expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../asset.fixture.ts';
import { decideReopening, type Reopening } from './decide-commands.ts';

const EXPIRES = new Date(NOW.getTime() + 3_600_000);
const reopening: Reopening = {
  expiresAt: EXPIRES,
  checkAt: null,
  keepsAnnouncement: true,
  actorData: { user: 'ann' },
};
const failed = createVideo({
  stream_status: 'failed',
  refused: true,
  failure: { code: 'size_mismatch', message: 'no', retryable: true },
  progress: 40,
  attempt: 2,
  uploaded_at: NOW,
  size_bytes: 3,
  checksum_sha256: 'aa',
  duplicate_of: '01900000-0000-7000-8000-00000000000b',
  announced_size_bytes: 4,
  announced_sha256: 'bb',
  provider_video_id: 'guid-1',
  encode_run: 1,
  warnings: [{ code: 'hdr', message: 'High dynamic range.' }],
});
const reopened = (asset: Asset = failed, more: Partial<Reopening> = {}): Asset => ({
  ...asset,
  ...decideReopening(asset, { ...reopening, ...more })?.set,
});

test('the next attempt has no failure, no warnings, no bytes and no provider video', () => {
  expect(reopened()).toMatchObject({
    stream_status: 'pending_upload',
    attempt: 3,
    progress: 0,
    failure: null,
    refused: false,
    warnings: [],
    encode_run: 0,
    uploaded_at: null,
    size_bytes: null,
    checksum_sha256: null,
    duplicate_of: null,
    provider_video_id: null,
    upload_expires_at: EXPIRES,
  });
});

test('the announcement is kept unless the announced file was refused', () => {
  expect(reopened()).toMatchObject({ announced_size_bytes: 4, announced_sha256: 'bb' });
  expect(reopened(failed, { keepsAnnouncement: false })).toMatchObject({
    announced_size_bytes: null,
    announced_sha256: null,
  });
});

test('an upload to a hosted provider is checked later, an upload to our store is not', () => {
  expect(reopened(createVideo({ ...failed, reconcile_at: NOW })).reconcile_at).toBeNull();
  expect(reopened(failed, { checkAt: EXPIRES }).reconcile_at).toBe(EXPIRES);
});

test('the timeline names the attempt and the caller, and a job removes the old bytes', () => {
  expect(decideReopening(failed, reopening)).toMatchObject({
    events: [
      {
        type: 'asset.updated',
        data: { attempt: 3, source: 'caller', upload_reopened: true, user: 'ann' },
      },
    ],
    jobs: [{ name: 'purge-asset', payload: { assetId: failed.id } }],
  });
});

test('the job that fetches the bytes comes with the attempt', () => {
  const job = { name: 'import-asset', payload: { assetId: failed.id, attempt: 3 } } as const;
  expect(decideReopening(failed, { ...reopening, job })?.jobs).toContainEqual(job);
});

test.each(['pending_upload', 'processing', 'ready'] as const)(
  'a %s asset is left as it is',
  (stream_status) => {
    expect(decideReopening({ ...failed, stream_status }, reopening)).toBeUndefined();
  },
);
