// Imports by URL: the service downloads the file and completes it by itself, with the checks of an upload (contract B4).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../service/src/platform/logger.ts';
import { makeClip } from '../support/clips.ts';
import { expectFieldRefused, expectRefusal } from '../support/envelope.ts';
import {
  cutAt,
  file,
  type FileServer,
  holdAt,
  inTurn,
  redirectTo,
  startFileServer,
  status,
} from '../support/file-server.ts';
import { type AssetJson, readAsset, settled } from '../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../support/service.ts';
import { filesNaming, rows } from '../support/traces.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const SECRET_HEADER = 'planted-authorization-of-the-source';
const SECRET_QUERY = 'planted-signature-of-the-source';

const lines: string[] = [];
let service: TestService;
let server: FileServer;
let picture: Buffer;
beforeAll(async () => {
  const log = createLogger('debug', {
    write: (line) => {
      lines.push(line);
    },
  });
  server = await startFileServer();
  picture = await noise(700);
  service = await startTestService(
    { OUTBOUND_ALLOW_PRIVATE: 'import', MAX_UPLOAD_BYTES: String(MAX_BYTES) },
    { log },
  );
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await server?.stop();
});

/** A picture that compresses badly: 700 × 700 pixels are about 1.5 MB. */
const noise = (size: number): Promise<Buffer> =>
  sharp({
    create: {
      width: size,
      height: size,
      channels: 3,
      background: '#777',
      noise: { type: 'gaussian', mean: 128, sigma: 60 },
    },
  })
    .png()
    .toBuffer();

const NAMED = { filename: 'picture.png', mime_type: 'image/png' };
const PNG = { 'content-type': 'image/png' };

const request = (json: object, headers: Record<string, string> = asUser('ann')): Promise<Answer<AssetJson>> =>
  call<AssetJson>(service, 'POST /media/import', { headers, json });

async function start(json: object, headers?: Record<string, string>): Promise<AssetJson> {
  const answer = await request(json, headers);
  expect(answer.body).toMatchObject({ success: true, message: 'Import started' });
  expect(answer.body.data).toMatchObject({ stream_status: 'pending_upload', size_bytes: null });
  return answer.body.data;
}

const finish = async (json: object): Promise<AssetJson> => settled(service, 'ann', (await start(json)).id);

async function download(id: string): Promise<Buffer> {
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  return Buffer.from(await (await fetch(body.data.url)).arrayBuffer());
}

const sourcesOf = (id: string) => rows(service.dataDir, 'select * from imports where asset_id = $1', [id]);
const storedFilesOf = (id: string) => filesNaming(join(service.dataDir, 'objects'), `originals/${id}`);

async function expectIdentical(asset: AssetJson, bytes: Buffer): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'ready', size_bytes: bytes.length, failure: null });
  expect((await download(asset.id)).equals(bytes)).toBe(true);
  expect(await sourcesOf(asset.id)).toEqual([]);
}

async function expectFailed(asset: AssetJson, code: string): Promise<void> {
  expect(asset).toMatchObject({ stream_status: 'failed', failure: { code, retryable: true } });
  await eventually(
    () => storedFilesOf(asset.id),
    (files) => files.length === 0,
  );
}

describe('a file that can be read', () => {
  test('an image is stored byte for byte, with the name and type of the response', async () => {
    const url = server.serve(
      '/a',
      file(picture, {
        'content-type': 'image/png',
        'content-disposition': 'attachment; filename="Ünï côde.png"',
      }),
    );
    const started = await start({ url, title: 'imported' });
    expect(started).toMatchObject({
      filename: 'Ünï côde.png',
      mime_type: 'image/png',
      content_type: 'image/png',
      kind: 'image',
      title: 'imported',
    });
    await expectIdentical(await settled(service, 'ann', started.id), picture);
    const timeline = await call<{ items: { type: string; source: string; sentence: string }[] }>(
      service,
      `GET /media/${started.id}/timeline`,
      { headers: asUser('ann') },
    );
    const { items } = timeline.body.data;
    expect(items[0]?.sentence).toContain(`imports its file from ${new URL(url).host}`);
    expect(items.map(({ type, source }) => [type, source])).toEqual(
      expect.arrayContaining([
        ['asset.created', 'caller'],
        ['asset.uploaded', 'service'],
        ['asset.processing', 'service'],
        ['asset.ready', 'service'],
      ]),
    );
  });

  test('a video is stored byte for byte and plays', async () => {
    const clip = await readFile(await makeClip({ seconds: 2 }));
    const asset = await finish({
      url: server.serve('/clip.mp4', file(clip, { 'content-type': 'application/octet-stream' })),
    });
    expect(asset).toMatchObject({
      kind: 'video',
      mime_type: 'video/mp4',
      filename: 'clip.mp4',
      provider: 'onprem',
    });
    await expectIdentical(asset, clip);
    expect(asset['playback']).not.toBeNull();
  }, 120_000);

  test('redirects are followed, and name and type given by the caller spare the first request', async () => {
    server.serve('/moved.png', file(picture, PNG));
    const url = server.serve('/old', redirectTo('/moved.png'));
    await expectIdentical(await finish({ url, ...NAMED }), picture);
    expect(server.requestsOf('/old')).toHaveLength(1);
  });

  test('a download that is cut continues where it was', async () => {
    const etag = { ...PNG, etag: '"v1"' };
    const cut = Math.floor(picture.length / 2);
    const url = server.serve('/cut.png', inTurn(cutAt(picture, cut, etag), file(picture, etag)));
    await expectIdentical(await finish({ url, ...NAMED }), picture);
    const [first, second, ...others] = server.requestsOf('/cut.png');
    expect(others).toEqual([]);
    expect(first?.headers.range).toBeUndefined();
    expect(second?.headers).toMatchObject({
      'if-range': '"v1"',
      range: expect.stringMatching(/^bytes=[1-9]/),
    });
  });

  test('a download that is cut begins again where the server cannot continue it', async () => {
    const url = server.serve('/again.png', inTurn(cutAt(picture, 1000, PNG), file(picture, PNG)));
    await expectIdentical(await finish({ url, ...NAMED }), picture);
  });

  test('a repeated request with the same Idempotency-Key creates one asset', async () => {
    const url = server.serve('/once.png', file(picture, PNG));
    const headers = { ...asUser('ann'), 'idempotency-key': 'import-once' };
    const first = await start({ url, ...NAMED }, headers);
    const repeated = await request({ url, ...NAMED }, headers);
    expect(repeated.body.data.id).toBe(first.id);
    await expectIdentical(await settled(service, 'ann', first.id), picture);
    expect(server.requestsOf('/once.png')).toHaveLength(1);
    expectRefusal(await request({ url: `${url}?other`, ...NAMED }, headers), 409);
  });
});

describe('a file that cannot be read', () => {
  test('an address that may not be reached is refused at once, in every notation', async () => {
    for (const url of [
      'http://169.254.169.254/latest/meta-data/',
      'http://0xa9fea9fe/',
      'ftp://example.com/a.png',
      'http://ann:pw@example.com/a.png',
      'not a url',
      'http://example.com:22/',
    ]) {
      const answer = await request({ url, ...NAMED });
      expectFieldRefused(answer, 'url');
      expect(answer.body.error.details).toMatchObject({ reason: 'import_refused' });
    }
  });

  test('a redirect to the metadata service fails the import, and the source is forgotten', async () => {
    const url = server.serve('/to-metadata', redirectTo('http://169.254.169.254/latest/meta-data/'));
    const asset = await finish({ url, ...NAMED });
    await expectFailed(asset, 'import_refused');
    expect(await sourcesOf(asset.id)).toEqual([]);
    const found = await request({ url });
    expectFieldRefused(found, 'url');
    expect(found.body.error.details).toMatchObject({ reason: 'import_refused' });
  });

  test('private addresses are refused unless the operator allows them', async () => {
    const closed = await startTestService({ MEDIARY_ROLE: 'all' });
    try {
      const before = server.requests.length;
      for (const host of ['127.0.0.1', '2130706433', '[::1]', '10.0.0.1', '[::ffff:127.0.0.1]']) {
        const answer = await call(closed, 'POST /media/import', {
          headers: asUser('ann'),
          json: { url: `http://${host}:${new URL(server.url).port}/a`, ...NAMED },
        });
        expectFieldRefused(answer, 'url');
      }
      const named = await call<AssetJson>(closed, 'POST /media/import', {
        headers: asUser('ann'),
        json: { url: `http://localhost:${new URL(server.url).port}/a`, ...NAMED },
      });
      expect(await settled(closed, 'ann', named.body.data.id)).toMatchObject({
        stream_status: 'failed',
        failure: { code: 'import_refused' },
      });
      expect(server.requests).toHaveLength(before);
    } finally {
      await closed.stop();
    }
  }, 120_000);

  test('a missing file is 400 if the service needs its name, and otherwise fails an import that can be retried', async () => {
    const url = `${server.url}/later.png`;
    const answer = await request({ url });
    expectFieldRefused(answer, 'url');
    expect(answer.body.error.details).toMatchObject({ reason: 'import_failed', status: 404 });
    const failed = await finish({ url, ...NAMED });
    await expectFailed(failed, 'import_failed');
    expect(failed.failure?.message).toContain('404');

    server.serve('/later.png', file(picture, PNG));
    const retried = await call<AssetJson & { upload: unknown }>(service, `POST /media/${failed.id}/retry`, {
      headers: asUser('ann'),
    });
    expect(retried.body.data).toMatchObject({ stream_status: 'pending_upload', upload: null });
    await expectIdentical(await settled(service, 'ann', failed.id), picture);
  });

  test('a file that is too large is refused before it is stored', async () => {
    const large = Buffer.alloc(MAX_BYTES + 1);
    const url = server.serve('/large.png', file(large, PNG));
    expectRefusal(await request({ url }), 413);
    const failed = await finish({ url, ...NAMED });
    await expectFailed(failed, 'import_too_large');
    const chunked = server.serve('/endless.png', (_request, response) => {
      response.writeHead(200, PNG);
      response.end(large);
    });
    await expectFailed(await finish({ url: chunked, ...NAMED }), 'import_too_large');
    expect(await sourcesOf(failed.id)).toEqual([]);
    const retried = await call<{ upload: object | null }>(service, `POST /media/${failed.id}/retry`, {
      headers: asUser('ann'),
    });
    expect(retried.body.data.upload).toMatchObject({ protocol: 'put' });
  });

  test('a page instead of a video is refused', async () => {
    const page = Buffer.from('<!doctype html><title>Sign in</title>');
    const url = server.serve('/page', file(page, { 'content-type': 'text/html; charset=utf-8' }));
    const answer = await request({ url });
    expectFieldRefused(answer, 'mime_type');
    expect(answer.body.message).toContain('text/html');
    const failed = await finish({ url, filename: 'clip.mp4', mime_type: 'video/mp4' });
    await expectFailed(failed, 'type_mismatch');
    expect(await sourcesOf(failed.id)).toEqual([]);
  });

  test('the announced size and checksum are checked', async () => {
    const url = server.serve('/announced.png', file(picture, PNG));
    await expectFailed(await finish({ url, ...NAMED, size_bytes: picture.length + 1 }), 'size_mismatch');
    await expectFailed(await finish({ url, ...NAMED, checksum_sha256: 'a'.repeat(64) }), 'checksum_mismatch');
  });

  test('a hosted provider takes uploads itself', async () => {
    const url = server.serve('/hosted.mp4', file(picture));
    expectFieldRefused(
      await request({ url, filename: 'a.mp4', mime_type: 'video/mp4', provider: 'edgehost' }),
      'provider',
    );
  });
});

describe('request headers', () => {
  const asBackend = (json: object) => request({ ...json, owner_user_id: 'ann' }, asService);
  const guardedBy = (bytes: Buffer) =>
    server.serve('/guarded.png', (asked, response) =>
      (asked.headers.authorization === SECRET_HEADER ? file(bytes, PNG) : status(403))(asked, response),
    );

  test('a service caller may send them; they and the URL are neither logged, shown nor kept', async () => {
    const url = `${guardedBy(picture)}?signature=${SECRET_QUERY}`;
    const headers = { Authorization: SECRET_HEADER };
    const ready = await asBackend({ url, headers });
    await expectIdentical(await settled(service, 'ann', ready.body.data.id), picture);
    const refused = await asBackend({ url, headers: { Authorization: 'other' }, ...NAMED });
    await expectFailed(await settled(service, 'ann', refused.body.data.id), 'import_failed');
    await call(service, `DELETE /media/${refused.body.data.id}`, { headers: asUser('ann') });

    for (const secret of [SECRET_HEADER, SECRET_QUERY]) {
      expect(lines.filter((line) => line.includes(secret))).toEqual([]);
      for (const table of ['imports', 'assets', 'events', 'idempotency_keys', 'pgboss.job'])
        expect(
          await rows(service.dataDir, `select 1 from ${table} as row where row::text like $1`, [
            `%${secret}%`,
          ]),
        ).toEqual([]);
    }
  });

  test('a user may not send them, and nobody may send those of the connection', async () => {
    const url = guardedBy(picture);
    expectFieldRefused(await request({ url, ...NAMED, headers: { Authorization: 'x' } }), 'headers');
    for (const name of ['Host', 'Range', 'Transfer-Encoding', 'bad name'])
      expectFieldRefused(await asBackend({ url, ...NAMED, headers: { [name]: 'x' } }), `headers.${name}`);
  });
});

test('deleting the asset ends its download', async () => {
  const held = holdAt(picture, 100_000);
  const { id } = await start({ url: server.serve('/held.png', held.handler), ...NAMED });
  await held.waiting;
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  await held.closed;
  expect(await sourcesOf(id)).toEqual([]);
  await eventually(
    () => storedFilesOf(id),
    (files) => files.length === 0,
  );
  await eventually(
    () => filesNaming(join(service.dataDir, 'objects', 'incoming')),
    (files) => files.length === 0,
  );
}, 30_000);

test('complete and retry wait while the service imports', async () => {
  const held = holdAt(picture, 100_000);
  const { id } = await start({ url: server.serve('/busy.png', held.handler), ...NAMED });
  await held.waiting;
  expectRefusal(await call(service, `POST /media/${id}/complete`, { headers: asUser('ann') }), 400);
  expectRefusal(await call(service, `POST /media/${id}/retry`, { headers: asUser('ann') }), 409);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ stream_status: 'pending_upload' });
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
});
