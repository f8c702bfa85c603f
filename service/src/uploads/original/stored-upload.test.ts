// A finished upload changes its asset only in its own attempt, and only once (contract B4).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { decideStoredUpload } from './stored-upload.ts';

const WRITER = '01900000-0000-7000-8000-00000000000a';
const OTHER = '01900000-0000-7000-8000-00000000000b';
const lease = { upload: WRITER, holder: WRITER };
const asset = createVideo();
const stored = { sizeBytes: 3, sha256: 'aa' };
const minutesLater = (minutes: number) => new Date(NOW.getTime() + minutes * 60_000);
const decide = (seen: Partial<Asset> = {}, mayHaveOrphans = false) =>
  decideStoredUpload(
    { ...asset, ...seen },
    {
      attempt: 1,
      source: 'caller',
      uploadId: WRITER,
      lease,
      stored,
      duplicateOf: OTHER,
      mayHaveOrphans,
      now: NOW,
      uploadTtlSeconds: 600,
    },
  );

test('the stored bytes become the original', () => {
  expect(decide()?.set).toEqual({
    size_bytes: 3,
    checksum_sha256: 'aa',
    duplicate_of: OTHER,
    uploaded_at: NOW,
    original_upload: WRITER,
    upload_expires_at: minutesLater(10),
  });
  expect(decide()?.finishes, 'the upload finishes in the same statement').toEqual(lease);
  expect(decide()?.events).toEqual([{ type: 'asset.uploaded', data: { source: 'caller', size_bytes: 3 } }]);
});

test('a small PUT is recorded with the pointer to its object', () => {
  const upload = { attempt: 1, source: 'caller', uploadId: WRITER, stored, uploadTtlSeconds: 600 } as const;
  const finish = { ...upload, isSmallPut: true, duplicateOf: null, mayHaveOrphans: false, now: NOW };
  expect(decideStoredUpload(asset, finish)).toMatchObject({ recordsUnlessHeld: { id: WRITER } });
});

test('the time to complete is extended, never shortened', () => {
  expect(decide({ upload_expires_at: minutesLater(9) })?.set.upload_expires_at).toEqual(minutesLater(10));
  expect(decide({ upload_expires_at: minutesLater(11) })?.set.upload_expires_at).toEqual(minutesLater(11));
});

test('the objects of other uploads are removed', () => {
  expect(decide()?.jobs).toEqual([]);
  expect(decide({}, true)?.jobs).toEqual([{ name: 'purge-asset', payload: { assetId: asset.id } }]);
});

describe('an upload changes nothing', () => {
  test.each<[string, Partial<Asset>]>([
    ['of an earlier attempt', { attempt: 2 }],
    ['of a deleted asset', { deleted_at: NOW }],
    ['after another upload has finished', { uploaded_at: NOW }],
    ['after the asset left pending_upload', { stream_status: 'failed' }],
  ])('%s', (_, seen) => expect(decide(seen)).toBeUndefined());
});
