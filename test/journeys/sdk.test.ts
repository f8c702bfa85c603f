// The SDK against the whole service: uploads, lists, edits and errors.
import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { createMediary, type Mediary, type UploadProgress } from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips.ts';
import { SECRETS, startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let ann: Mediary;
beforeAll(async () => {
  service = await startTestService({ RESUMABLE_UPLOAD_BYTES: '1000000' });
  const token = () => signAccessToken({ secret: SECRETS.ACCESS_TOKEN_SECRET, userId: 'ann' });
  ann = createMediary({ baseUrl: service.address, token });
});
afterAll(() => service.stop());

test('a small file is uploaded by PUT, with progress and checksum', async () => {
  const file = await openAsBlob(await makeClip({ seconds: 1 }));
  const seen: UploadProgress[] = [];
  const asset = await ann.media.upload(file, {
    filename: 'clip.mp4',
    title: 'A clip',
    checksum: true,
    onProgress: (progress) => seen.push(progress),
  });
  expect(asset).toMatchObject({ stream_status: 'processing', title: 'A clip', size_bytes: file.size });
  expect(seen.at(0)).toEqual({ phase: 'preparing', bytesSent: 0, totalBytes: file.size });
  expect(seen.at(-1)).toEqual({ phase: 'completing', bytesSent: file.size, totalBytes: file.size });
  expect(await ann.media.get(asset.id)).toMatchObject({ id: asset.id });
});

test('a large file is uploaded by tus', async () => {
  const clip = await openAsBlob(await makeClip({ seconds: 1 }));
  const asset = await ann.media.upload(new Blob([clip, randomBytes(3_000_000)]), { filename: 'film.mp4' });
  expect(asset).toMatchObject({ size_bytes: clip.size + 3_000_000 });
});
