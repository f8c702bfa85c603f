// Media types as browsers and phones name them, and empty files (contract B1, B4).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { filesNaming } from '../../support/service/traces.ts';
import {
  complete,
  IMAGE,
  offer,
  openUpload,
  putBytes,
  readAsset,
  settled,
  VIDEO,
} from '../../support/media.ts';
import { phonePhoto } from '../../support/clips/pictures.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service?.stop());

test('image/jpg is an alias of image/jpeg', async () => {
  const bytes = await phonePhoto({ width: 320, height: 240, orientation: 1 });
  const fields = { ...IMAGE, mime_type: 'image/jpg' };
  const started = await openUpload(service, 'ann', fields);
  expect(started.asset).toMatchObject({ kind: 'image', mime_type: 'image/jpeg' });
  expect((await putBytes(started, bytes, { 'Content-Type': 'image/jpg' })).status).toBe(200);
  expect((await complete(service, 'ann', started.asset_id)).status).toBe(200);
  expect((await settled(service, 'ann', started.asset_id)).stream_status).toBe('ready');
});

const SMALL = { seconds: 1, width: 176, height: 144, fps: 10 };
test.each([
  ['video/3gpp', 'video/3gpp', { ...SMALL, more: ['-f', '3gp'] }],
  ['video/3gpp2', 'video/3gpp2', { ...SMALL, more: ['-f', '3g2'] }],
  ['video/x-m4v', 'video/mp4', { ...SMALL, more: ['-f', 'ipod'] }],
])('a video of type %s is encoded', async (mime_type, stored, clip) => {
  const bytes = await readFile(await makeClip(clip));
  const { id, completed } = await offer(service, 'ann', { bytes, fields: { ...VIDEO, mime_type } });
  expect([completed.status, completed.body.data.mime_type]).toEqual([200, stored]);
  expect(await settled(service, 'ann', id)).toMatchObject({ stream_status: 'ready', failure: null });
});

test('an unsupported type is rejected with the list of supported types', async () => {
  const json = { ...VIDEO, mime_type: 'video/x-msvideo' };
  const answer = await call(service, 'POST /media/upload-url?expand=asset', { headers: asUser('ann'), json });
  const { message, details } = expectRefusal(answer, 400);
  expect(message).toMatch(
    /^mime_type "video\/x-msvideo" is not supported\. Supported: image\/jpeg, .*video\/mp4/,
  );
  expect(details).toMatchObject({
    field: 'mime_type',
    allowed: expect.arrayContaining(['video/mp4', 'image/avif']),
  });
});

test.each(['video/avi', 'video/mpeg', 'video/x-flv', 'video/x-ms-wmv', 'video/ogg', 'application/mxf'])(
  '%s is not supported unless the operator adds it',
  async (mime_type) => {
    const json = { ...VIDEO, mime_type };
    const answer = await call(service, 'POST /media/upload-url?expand=asset', {
      headers: asUser('ann'),
      json,
    });
    expect(expectRefusal(answer, 400).details).toMatchObject({ field: 'mime_type' });
  },
);

test.each([
  ['with a length', () => new Uint8Array()],
  ['in chunks', () => new ReadableStream({ start: (stream) => stream.close() })],
])('an empty upload is rejected, and the right bytes are accepted after: %s', async (_how, empty) => {
  const started = await openUpload(service, 'ann');
  const response = await fetch(String(started.upload_url), {
    method: 'PUT',
    headers: { ...started.upload?.headers },
    body: empty(),
    duplex: 'half',
  } as RequestInit);
  const { message, details } = expectRefusal(
    { status: response.status, headers: response.headers, body: await response.json() },
    400,
  );
  expect(message).toContain('The upload is empty');
  expect(details).toEqual({ reason: 'empty_upload' });
  expect(await readAsset(service, 'ann', started.asset_id)).toEqual(started.asset);
  expect(await filesNaming(service.dataDir, started.asset_id)).toEqual([]);
  expect((await putBytes(started, await readFile(await makeClip(SMALL)))).status).toBe(200);
});
