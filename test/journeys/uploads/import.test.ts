// Imports by URL: the service downloads the file and completes it by itself, with the checks of an upload
// (contract B4).
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { cutAt, file, holdAt, inTurn, redirectTo } from '../../support/http/file-server.ts';
import {
  expectImported,
  expectNoFiles,
  finishImport,
  type Imports,
  NAMED,
  PNG,
  requestImport,
  sourcesOf,
  startImport,
  startImports,
} from '../../support/uploads/imports.ts';
import { readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { filesNaming, originalFiles } from '../../support/service/traces.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';

let imports: Imports;
let service: Imports['service'];
let server: Imports['server'];
let picture: Buffer;
beforeAll(async () => {
  imports = await startImports();
  ({ service, server, picture } = imports);
});
afterAll(() => imports?.stop());

describe('a file that can be read', () => {
  test('an image is stored byte for byte, with the name and type of the response', async () => {
    const url = server.serve(
      '/a',
      file(picture, {
        'content-type': 'image/png',
        'content-disposition': 'attachment; filename="Ünï côde.png"',
      }),
    );
    const started = await startImport(service, { url, title: 'imported' });
    expect(started).toMatchObject({
      filename: 'Ünï côde.png',
      mime_type: 'image/png',
      content_type: 'image/png',
      kind: 'image',
      title: 'imported',
    });
    await expectImported(service, await settled(service, 'ann', started.id), picture);
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
    const asset = await finishImport(service, {
      url: server.serve('/clip.mp4', file(clip, { 'content-type': 'application/octet-stream' })),
    });
    expect(asset).toMatchObject({
      kind: 'video',
      mime_type: 'video/mp4',
      filename: 'clip.mp4',
      provider: 'onprem',
    });
    await expectImported(service, asset, clip);
    expect(asset['playback']).not.toBeNull();
  });

  test('redirects are followed, and name and type given by the caller spare the first request', async () => {
    server.serve('/moved.png', file(picture, PNG));
    const url = server.serve('/old', redirectTo('/moved.png'));
    await expectImported(service, await finishImport(service, { url, ...NAMED }), picture);
    expect(server.requestsOf('/old')).toHaveLength(1);
  });

  test('a download that is cut continues where it was', async () => {
    const etag = { ...PNG, etag: '"v1"' };
    const cut = Math.floor(picture.length / 2);
    const url = server.serve('/cut.png', inTurn(cutAt(picture, cut, etag), file(picture, etag)));
    await expectImported(service, await finishImport(service, { url, ...NAMED }), picture);
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
    await expectImported(service, await finishImport(service, { url, ...NAMED }), picture);
  });

  test('a repeated request with the same Idempotency-Key creates one asset', async () => {
    const url = server.serve('/once.png', file(picture, PNG));
    const headers = { ...asUser('ann'), 'idempotency-key': 'import-once' };
    const first = await startImport(service, { url, ...NAMED }, headers);
    const repeated = await requestImport(service, { url, ...NAMED }, headers);
    expect(repeated.body.data.id).toBe(first.id);
    await expectImported(service, await settled(service, 'ann', first.id), picture);
    expect(server.requestsOf('/once.png')).toHaveLength(1);
    expectRefusal(await requestImport(service, { url: `${url}?other`, ...NAMED }, headers), 409);
  });
});

test('deleting the asset ends its download', async () => {
  const held = holdAt(picture, 100_000);
  const { id } = await startImport(service, { url: server.serve('/held.png', held.handler), ...NAMED });
  await held.waiting;
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
  await held.closed;
  expect(await sourcesOf(service, id)).toEqual([]);
  await expectNoFiles(service, id);
  await eventually(
    () => filesNaming(join(service.dataDir, 'objects', 'incoming')),
    (files) => files.length === 0,
  );
});

test('complete and retry wait while the service imports', async () => {
  const held = holdAt(picture, 100_000);
  const { id } = await startImport(service, { url: server.serve('/busy.png', held.handler), ...NAMED });
  await held.waiting;
  expectRefusal(await call(service, `POST /media/${id}/complete`, { headers: asUser('ann') }), 400);
  expectRefusal(await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') }), 409);
  expect(await readAsset(service, 'ann', id)).toMatchObject({ stream_status: 'pending_upload' });
  await call(service, `DELETE /media/${id}`, { headers: asUser('ann') });
});

test('a later run takes over from one that hangs, and only its bytes are stored', async () => {
  const held = holdAt(picture, 100_000);
  const url = server.serve('/taken-over.png', inTurn(held.handler, file(picture, PNG)));
  const { id } = await startImport(service, { url, ...NAMED });
  await held.waiting;
  const runs = () => uploadsOf(service, id);
  await eventually(runs, ([row]) => row?.protocol === 'import' && !row.is_finished);
  const { db, jobs } = service.adapters;
  await db.transaction((tx) =>
    jobs.sendFor(tx, 'ann', { name: 'import-asset', payload: { assetId: id, attempt: 1 } }),
  );
  await expectImported(service, await settled(service, 'ann', id), picture);
  await held.closed;
  const files = await originalFiles(service.dataDir, id);
  expect(files).toHaveLength(1);
  expect(await runs(), 'the upload of the first run is gone').toMatchObject([
    { protocol: 'import', bytes_received: picture.length, is_finished: true },
  ]);
});
