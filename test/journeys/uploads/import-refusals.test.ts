// Imports that fail or are refused: what the caller is told, and what stays of the source (contract B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { file, redirectTo } from '../../support/http/file-server.ts';
import {
  expectImported,
  expectImportFailed,
  finishImport,
  type Imports,
  MAX_BYTES,
  NAMED,
  PNG,
  requestImport,
  sourcesOf,
  startImport,
  startImports,
} from '../../support/uploads/imports.ts';
import { type AssetJson, settled } from '../../support/media.ts';
import { asOperator, asUser, call, startTestService, eventually } from '../../support/service.ts';

let imports: Imports;
let service: Imports['service'];
let server: Imports['server'];
let picture: Buffer;
beforeAll(async () => {
  imports = await startImports();
  ({ service, server, picture } = imports);
});
afterAll(() => imports?.stop());

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
      const answer = await requestImport(service, { url, ...NAMED });
      expectFieldRefused(answer, 'url');
      expect(answer.body.error.details).toMatchObject({
        field: 'url',
        reason: expect.stringMatching(/^url_/),
      });
    }
  });

  test('a redirect to the metadata service fails the import, and the source is forgotten', async () => {
    const url = server.serve('/to-metadata', redirectTo('http://169.254.169.254/latest/meta-data/'));
    const asset = await finishImport(service, { url, ...NAMED });
    await expectImportFailed(service, asset, 'import_refused');
    // The source is deleted just after the asset has failed.
    await eventually(
      () => sourcesOf(service, asset.id),
      ({ length }) => length === 0,
    );
    const found = await requestImport(service, { url });
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
        // The same as for a name that does not exist.
        failure: {
          code: 'import_failed',
          message: expect.stringContaining('does not resolve to a public address'),
        },
      });
      expect(server.requests).toHaveLength(before);
    } finally {
      await closed.stop();
    }
  });

  test('a missing file is 400 if its name is needed, else a failure that can be retried', async () => {
    const url = `${server.url}/later.png`;
    const answer = await requestImport(service, { url });
    expectFieldRefused(answer, 'url');
    expect(answer.body.error.details).toMatchObject({ reason: 'import_failed', status: 404 });
    const failed = await finishImport(service, { url, ...NAMED });
    await expectImportFailed(service, failed, 'import_failed');
    expect(failed.failure?.message).toContain('404');

    server.serve('/later.png', file(picture, PNG));
    const retried = await call<AssetJson & { upload: unknown }>(
      service,
      `POST /media/${failed.id}/retry?expand=asset`,
      {
        headers: asUser('ann'),
      },
    );
    expect(retried.body.data).toMatchObject({ asset: { stream_status: 'pending_upload' }, upload: null });
    await expectImported(service, await settled(service, 'ann', failed.id), picture);
  });

  test('a file that is too large is refused before it is stored', async () => {
    const large = Buffer.alloc(MAX_BYTES + 1);
    const url = server.serve('/large.png', file(large, PNG));
    expectRefusal(await requestImport(service, { url }), 413);
    const failed = await finishImport(service, { url, ...NAMED });
    await expectImportFailed(service, failed, 'import_too_large');
    const chunked = server.serve('/endless.png', (_request, response) => {
      response.writeHead(200, PNG);
      response.end(large);
    });
    await expectImportFailed(
      service,
      await finishImport(service, { url: chunked, ...NAMED }),
      'import_too_large',
    );
    expect(await sourcesOf(service, failed.id)).toEqual([]);
    const retried = await call<{ upload: object | null }>(
      service,
      `POST /media/${failed.id}/retry?expand=asset`,
      {
        headers: asUser('ann'),
      },
    );
    expect(retried.body.data.upload).toMatchObject({ protocol: 'put' });
  });

  test('a page instead of a video is refused', async () => {
    const page = Buffer.from('<!doctype html><title>Sign in</title>');
    const url = server.serve('/page', file(page, { 'content-type': 'text/html; charset=utf-8' }));
    const answer = await requestImport(service, { url });
    expectFieldRefused(answer, 'mime_type');
    expect(answer.body.message).toContain('text/html');
    const failed = await finishImport(service, { url, filename: 'clip.mp4', mime_type: 'video/mp4' });
    await expectImportFailed(service, failed, 'type_mismatch');
    expect(await sourcesOf(service, failed.id)).toEqual([]);
  });

  test('the announced size and checksum are checked', async () => {
    const url = server.serve('/announced.png', file(picture, PNG));
    await expectImportFailed(
      service,
      await finishImport(service, { url, ...NAMED, size_bytes: picture.length + 1 }),
      'size_mismatch',
    );
    await expectImportFailed(
      service,
      await finishImport(service, { url, ...NAMED, checksum_sha256: 'a'.repeat(64) }),
      'checksum_mismatch',
    );
  });

  test('a hosted provider that is not configured takes no import', async () => {
    const url = server.serve('/hosted.mp4', file(picture));
    expectFieldRefused(
      await requestImport(service, { url, filename: 'a.mp4', mime_type: 'video/mp4', provider: 'edgehost' }),
      'provider',
    );
  });

  test("the owner's quota counts", async () => {
    const limit = (json: object) =>
      call(service, 'PUT /admin/owners/bob/limits', { headers: asOperator, json });
    const url = server.serve('/quota.png', file(picture, PNG));
    await limit({ max_bytes: picture.length - 1 });
    const { id } = await startImport(service, { url, ...NAMED }, asUser('bob'));
    const failed = await settled(service, 'bob', id);
    await expectImportFailed(service, failed, 'import_too_large');
    expect(failed.failure?.message).toContain('quota');
    await limit({ max_pending: 0 });
    const refused = await requestImport(service, { url, ...NAMED }, asUser('bob'));
    expect(expectRefusal(refused, 400).details).toMatchObject({ reason: 'quota_exceeded', field: 'pending' });
  });
});
