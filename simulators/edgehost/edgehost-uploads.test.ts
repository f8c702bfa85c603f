// Tests uploads to edgehost as a client: the chunk rules of tus, and the storage that an upload reserves.
import { Readable } from 'node:stream';
import { Upload } from 'tus-js-client';
import { expect, test } from 'vitest';
import { STEP, useSimulators } from '../simulators.fixture.ts';
import { ACCOUNT, authorized, createClient } from './edgehost-client.fixture.ts';

const context = useSimulators({ edgehost: { ...ACCOUNT, storageMinutes: 60 } });
const { clock } = context;
const { account, api } = createClient(context);

const MiB = 1_048_576;
const openTus = (length: number, seconds = 600) =>
  fetch(account('?direct_user=true'), {
    method: 'POST',
    headers: {
      ...authorized,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': String(length),
      'Upload-Metadata': `name ${btoa('clip')},maxDurationSeconds ${btoa(String(seconds))},requiresignedurls`,
    },
  });

test('tus: the server creates the upload; the browser sends valid chunks at its offset', async () => {
  const total = 6 * MiB;
  const opened = await openTus(total);
  const [location, uid] = [opened.headers.get('Location') ?? '', opened.headers.get('stream-media-id')];
  const patch = (offset: number, size: number) =>
    fetch(location, {
      method: 'PATCH',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Offset': String(offset),
        'Content-Type': 'application/offset+octet-stream',
      },
      body: new Uint8Array(size),
    });
  expect(opened.status).toBe(201);
  expect((await patch(0, MiB)).status).toBe(400);
  expect((await patch(0, 5 * MiB + 1)).status).toBe(400);
  expect((await patch(0, 5 * MiB)).status).toBe(204);
  expect((await patch(0, 5 * MiB)).status).toBe(409);
  expect((await patch(5 * MiB, MiB)).headers.get('Upload-Offset')).toBe(String(total));
  await clock.advance(10 * STEP);
  expect((await api('GET', `/${uid}`)).result).toMatchObject({
    size: total,
    requireSignedURLs: true,
    maxDurationSeconds: 600,
    meta: { name: 'clip' },
    readyToStream: true,
  });
});

test('tus: a stock client passes with chunks as the product asks, from memory or as a stream', async () => {
  const total = 11 * MiB;
  const send = async (chunkSize: number, file: Buffer | Readable) => {
    const uploadUrl = (await openTus(total)).headers.get('Location');
    return new Promise<string>((resolve) => {
      new Upload(file, {
        uploadUrl,
        chunkSize,
        uploadSize: total,
        retryDelays: null,
        onSuccess: () => resolve('uploaded'),
        onError: ({ message }) => resolve(message),
      }).start();
    });
  };
  const stream = () => Readable.from([Buffer.alloc(total)], { objectMode: false });
  expect(await send(5 * MiB, Buffer.alloc(total))).toBe('uploaded');
  expect(await send(5 * MiB, stream())).toBe('uploaded');
  expect(await send(5 * MiB + 1, Buffer.alloc(total))).toContain('multiple of 262144');
  expect(await send(MiB, stream())).toContain('at least 5242880');
});

test('an upload reserves its longest duration until it is processed, expires or is deleted', async () => {
  const used = async () => (await api('GET', '/storage-usage')).result.totalStorageMinutes;
  const open = (seconds: number, more: object = {}) =>
    api('POST', '/direct_upload', { maxDurationSeconds: seconds, ...more });
  const reserved = await open(3000);
  expect(await used()).toBe(50);
  expect(await open(601)).toMatchObject({
    status: 413,
    success: false,
    errors: [{ code: 10011, message: expect.stringContaining('60 minutes') }],
  });
  expect((await openTus(MiB, 601)).status).toBe(413);
  expect((await openTus(MiB, 600)).status).toBe(201);
  expect(await used()).toBe(60);
  await api('DELETE', `/${reserved.result.uid}`);
  expect(await used()).toBe(10);
  await clock.advance(30 * 60_000 + 1);
  expect(await used()).toBe(0);
  const { result } = await open(3600);
  const form = new FormData();
  form.append('file', new File(['film'], 'clip.mp4', { type: 'video/mp4' }));
  await fetch(result.uploadURL, { method: 'POST', body: form });
  await clock.advance(0);
  expect(await used()).toBe(60);
  await clock.advance(10 * STEP);
  expect(await used()).toBeLessThan(1);
});
