// Originals are downloaded with their file names; deleted assets stop playing and leave no bytes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitForEngine } from '../../support/encoding/engines.ts';
import { makeClip, pacedEngine, NOT_COPYABLE } from '../../support/clips/clips.ts';
import {
  type AssetJson,
  complete,
  IMAGE,
  ingest,
  openUpload,
  putBytes,
  readAsset,
} from '../../support/media.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming, openJobs, processesNaming, rows } from '../../support/service/traces.ts';
import { notProcessed, tell } from '../../support/providers/webhooks.ts';

type Download = { url: string; expires_at: string; filename: string };

const BYTES = Buffer.from('not looked at before complete, and handed back as it came');
const ann = asUser('ann');

let service: TestService;
let ahead = 0;
beforeAll(async () => {
  service = await startTestService(
    { FFMPEG_PATH: await pacedEngine() },
    { now: () => new Date(Date.now() + ahead), isStoreDirect: false },
  );
});
afterAll(() => service.stop());

async function upload(filename: string, bytes: Buffer = BYTES): Promise<string> {
  const started = await openUpload(service, 'ann', { ...IMAGE, filename });
  expect((await putBytes(started, bytes)).status).toBe(200);
  return started.asset_id;
}

const downloadOf = async (id: string): Promise<Download> =>
  (await call<Download>(service, `GET /media/${id}/download-url`, { headers: ann })).body.data;
const remove = (id: string, user = 'ann') => call(service, `DELETE /media/${id}`, { headers: asUser(user) });
const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
const stored = (id: string) => filesNaming(service.dataDir, id);

describe('the download of an original', () => {
  test('returns every byte', async () => {
    const bytes = await readFile(await makeClip({ seconds: 2 }));
    const { url, filename, expires_at: expires } = await downloadOf(await upload('film.png', bytes));
    expect(filename).toBe('film.png');
    expect(Date.parse(expires)).toBeGreaterThan(Date.now());
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
    expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await fetch(url, { headers: { range: 'bytes=10-19' } });
    expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(10, 20)]);
  });

  test.each([
    'summer.png',
    'Ærøskøbing – été №5.png',
    '夏の思い出.png',
    '🎬👨‍👩‍👧 film.png',
    'a"; filename="evil.exe',
    'back\\slash\\".png',
    '../../etc/passwd',
    '100%41%0d%0aEvil: yes.png',
    'semi;colon,comma=equals.png',
    '=?utf-8?Q?x?=',
    '\u202egnp.exe',
    'line\u2028separator\u2029.png',
    '＂full＂width＼.png',
    '‘quotes’ “curly”.png',
    '🎞'.repeat(255),
    "apo'strophe*.png",
    '<script>alert(1)</script>.png',
    ' spaces around ',
    'ﬁ ligature ½.png',
  ])('has its file name, and no name can add a header: %s', async (filename) => {
    const { url } = await downloadOf(await upload(filename));
    const { pathname, search, origin } = new URL(url);
    const { status, headers, body, all } = await sendRaw(origin, request(`GET ${pathname}${search}`));
    const [, plain = '', extended = ''] =
      /^attachment; filename="([^"\\]*)"; filename\*=UTF-8''([\w!#$&+.^`|~%-]*)$/.exec(
        headers.get('content-disposition') ?? '',
      ) ?? [];
    expect([status, decodeURIComponent(extended), body]).toEqual([200, filename, BYTES.toString()]);
    expect(plain).toMatch(/^[\x20-\x7e]+$/);
    expect(all.match(/content-disposition|^evil/gim)).toHaveLength(1);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('has no control characters in its file name', async () => {
    for (const filename of [
      'a\r\nSet-Cookie: x=1',
      'tab\t.png',
      'nul\0.png',
      'next\u0085line.png',
      '\ud800.png',
    ]) {
      const answer = await call(service, 'POST /media/upload-url?expand=asset', {
        headers: ann,
        json: { ...IMAGE, filename },
      });
      expect([answer.status, answer.body.error.details?.['field']], JSON.stringify(filename)).toEqual([
        400,
        'filename',
      ]);
    }
  });

  test('needs its own ticket, which must be valid', async () => {
    const [id, other] = [await upload('one.png'), await upload('other.png')];
    const { url } = await downloadOf(id);
    const ticket = new URL(url).searchParams.get('ticket') ?? '';
    const uploadTicket =
      new URL((await openUpload(service, 'ann')).upload_url ?? '').searchParams.get('ticket') ?? '';
    for (const wrong of [
      url.replace(id, other),
      url.replace(ticket, uploadTicket),
      `${url}x`,
      url.slice(0, -1),
      url.replace(ticket, ticket.toLowerCase()),
      url.replace(/\?.*/, ''),
    ]) {
      expect(await statusOf(wrong), wrong).toBe(401);
    }
    ahead = 2 * 3_600_000;
    expect(
      await statusOf(url).finally(() => {
        ahead = 0;
      }),
    ).toBe(401);
    expect(await statusOf(url)).toBe(200);
  });

  test('rejects a URL from before a deletion and restore', async () => {
    const id = await upload('kept.png');
    const { url } = await downloadOf(id);
    expect(await statusOf(url)).toBe(200);
    expect((await call(service, `DELETE /media/${id}?trash=true`, { headers: ann })).status).toBe(200);
    expect(await statusOf(url)).toBe(404);
    expect((await call(service, `POST /media/${id}/restore`, { headers: ann })).status).toBe(200);
    expect(await statusOf(url)).toBe(401);
    expect(await statusOf((await downloadOf(id)).url)).toBe(200);
  });

  test('is 404 without stored bytes', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const answer = await call(service, `GET /media/${id}/download-url`, { headers: ann });
    expect([answer.status, answer.body.error.error_code, answer.body.error.details]).toEqual([
      404,
      'NOT_FOUND',
      { reason: 'not_uploaded' },
    ]);
  });
});

describe('a deleted asset', () => {
  let asset: AssetJson;
  let download: Download;

  beforeAll(async () => {
    asset = await ingest(service, 'ann', {
      file: await makeClip({ seconds: 2 }),
      fields: { visibility: 'public' },
    });
    download = await downloadOf(asset.id);
    expect((await stored(asset.id)).length).toBeGreaterThan(6);
    expect((await remove(asset.id, 'eve')).status).toBe(403);
    expect((await remove(asset.id)).body.data).toEqual({ id: asset.id, deleted: true });
  });

  test('is 404 at every URL at once', async () => {
    const urls = [...Object.values(asset['playback'] as Record<string, string>), download.url];
    expect(await Promise.all(urls.map(statusOf))).toEqual(urls.map(() => 404));
    for (const path of ['', '/playback', '/download-url'])
      expect((await call(service, `GET /media/${asset.id}${path}`, { headers: ann })).status, path).toBe(404);
    expect((await complete(service, 'ann', asset.id)).status).toBe(404);
    const list = await call<{ items: AssetJson[] }>(service, 'GET /media?limit=200', { headers: ann });
    expect(list.body.data.items.map(({ id }) => id)).not.toContain(asset.id);
  });

  test('cannot be deleted again', async () => {
    const again = await remove(asset.id);
    expect([again.status, again.body.error.error_code]).toEqual([404, 'NOT_FOUND']);
  });

  test('leaves no bytes behind', async () => {
    await eventually(
      () => stored(asset.id),
      (files) => files.length === 0,
    );
  });

  test('is not restored by a late report', async () => {
    for (const status of ['ready', 'processing', 'failed']) {
      const verdict = await tell(service, 'onprem', {
        asset_id: asset.id,
        status,
        attempt: 9,
        playback: { hls: 'https://videos.example/film.m3u8' },
      });
      expect(verdict).toEqual(notProcessed('deleted_asset'));
    }
    expect((await call(service, `GET /media/${asset.id}`, { headers: ann })).status).toBe(404);
    expect(await statusOf(String((asset['playback'] as { hls: string }).hls))).toBe(404);
    expect(
      await rows(service.dataDir, 'select attempt, stream_status from assets where id = $1', [asset.id]),
    ).toEqual([{ attempt: 1, stream_status: 'ready' }]);
    expect(await stored(asset.id)).toEqual([]);
  });
});

test('a video that is deleted while being encoded leaves no file, job or ffmpeg process behind', async () => {
  const started = await openUpload(service, 'ann');
  await putBytes(started, await readFile(await makeClip({ seconds: 12, more: NOT_COPYABLE })));
  await complete(service, 'ann', started.asset_id);
  await eventually(
    () => readAsset(service, 'ann', started.asset_id),
    ({ progress }) => progress > 0,
  );
  // No process runs between the two jobs of an encode.
  await waitForEngine(started.asset_id);
  expect((await remove(started.asset_id)).status).toBe(200);
  await isEmptied(() => openJobs(service.dataDir));
  expect(await stored(started.asset_id)).toEqual([]);
  // A copy of an original from S3 waits for further work for 30 s.
  await isEmptied(() => filesNaming(join(service.dataDir, 'scratch')));
  expect(await filesNaming(join(service.dataDir, 'objects', 'incoming'))).toEqual([]);
  expect(await processesNaming(started.asset_id)).toEqual([]);
});

test('an upload that is deleted before completion leaves no bytes and accepts none', async () => {
  const started = await openUpload(service, 'ann');
  await putBytes(started, BYTES);
  expect((await remove(started.asset_id)).status).toBe(200);
  await isEmptied(() => stored(started.asset_id));
  expect((await putBytes(started, BYTES)).status).toBe(404);
});

const isEmptied = (list: () => Promise<readonly unknown[]>) =>
  eventually(list, ({ length }) => length === 0, { withinMs: 120_000 });
