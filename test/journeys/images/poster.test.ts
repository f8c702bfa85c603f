// The owner of a video sets the time of its thumbnail, before or after the upload, and resets it.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import {
  choosePoster,
  colourfulClip,
  postersDone,
  thumbnailAt,
  thumbnailOf,
  thumbnailTurns,
} from '../../support/playback/posters.ts';
import {
  type AssetJson,
  complete,
  IMAGE,
  ingest,
  openUpload,
  putBytes,
  readAsset,
  settled,
} from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { linkVideo, tell } from '../../support/providers/webhooks.ts';
import { REMOVE_ORPHANS, runStorageCheck } from '../../support/service/storage-check.ts';

let service: TestService;
let film: string;
let plain: AssetJson;

beforeAll(async () => {
  service = await startTestService();
  film = await colourfulClip();
  plain = await ingest(service, 'ann', { file: film });
});
afterAll(() => service.stop());

/** A new video whose poster is chosen before it is uploaded. */
async function withPoster(poster: number, visibility: 'public' | 'private' = 'private'): Promise<AssetJson> {
  const { asset_id: id, ...started } = await openUpload(service, 'ann', { visibility });
  expect((await choosePoster(service, id, poster)).body.data).toMatchObject({
    poster_time_ms: poster,
    version: 2,
    stream_status: 'pending_upload',
  });
  await putBytes({ asset_id: id, ...started }, await readFile(film));
  await complete(service, 'ann', id);
  return settled(service, 'ann', id);
}

test('poster_time_ms is null until a caller sets it', async () => {
  expect(plain['poster_time_ms']).toBeNull();
  expect((await thumbnailOf(service, plain.id)).colour).toBe('green');
});

test('set before the upload: the first thumbnail is of that time', async () => {
  const asset = await withPoster(4500);
  expect(asset).toMatchObject({ stream_status: 'ready', poster_time_ms: 4500 });
  expect((await thumbnailOf(service, asset.id)).colour).toBe('blue');
  expect((await choosePoster(service, asset.id, null)).body.data['poster_time_ms']).toBeNull();
  await thumbnailTurns(service, asset.id, 'green');
});

test('set while it plays: PATCH responds at once, and the thumbnail changes at every URL', async () => {
  const { id } = await ingest(service, 'ann', { file: film, fields: { visibility: 'public' } });
  const fixed = `${service.url}/playback/${id}/thumb.jpg`;
  const before = await thumbnailAt(fixed);
  expect(before.colour).toBe('green');
  expect((await choosePoster(service, id, 500)).body.data).toMatchObject({
    poster_time_ms: 500,
    version: 2,
    stream_status: 'ready',
  });
  const after = await eventually(
    () => thumbnailAt(fixed),
    ({ colour }) => colour === 'red',
  );
  expect(after.etag).not.toBe(before.etag);
  expect(after.cacheControl).toBe('public, max-age=10');
  expect((await thumbnailOf(service, id)).etag).toBe(after.etag);
  expect((await fetch(fixed, { headers: { 'if-none-match': String(before.etag) } })).status).toBe(200);

  await choosePoster(service, id, null);
  expect(
    await eventually(
      () => thumbnailAt(fixed),
      ({ colour }) => colour === 'green',
    ),
  ).toEqual(before);
});

test('the thumbnail of a private video stays private', async () => {
  await choosePoster(service, plain.id, 5999);
  expect((await thumbnailTurns(service, plain.id, 'blue')).cacheControl).toBe('private, max-age=10');
  expect((await fetch(`${service.url}/playback/${plain.id}/thumb.jpg`)).status).toBe(404);
});

test('the last of several edits wins, also when its value was set before', async () => {
  for (const time of [500, 4500, 2500, 500, 4500, null, 1999])
    expect((await choosePoster(service, plain.id, time)).status).toBe(200);
  const done = await postersDone(service, plain.id);
  expect([done['poster_time_ms'], (await thumbnailOf(service, plain.id)).colour]).toEqual([1999, 'red']);
  const answers = await Promise.all(
    [300, 4300, 2300, 4400].map((time) => choosePoster(service, plain.id, time)),
  );
  const last = answers
    .map(({ body }) => body.data)
    .toSorted((a, b) => Number(b['version']) - Number(a['version']))[0];
  await postersDone(service, plain.id);
  expect((await thumbnailOf(service, plain.id)).colour).toBe(
    { 300: 'red', 2300: 'green' }[Number(last?.['poster_time_ms'])] ?? 'blue',
  );
});

test('a repeated job changes nothing', async () => {
  await choosePoster(service, plain.id, 4500);
  const done = await postersDone(service, plain.id);
  const [{ jobs, db }, payload] = [service.adapters, { assetId: plain.id }];
  for (let time = 0; time < 2; time++)
    await db.transaction((tx) => jobs.sendFor(tx, 'ann', { name: 'make-poster', payload }));
  expect(await postersDone(service, plain.id)).toEqual(done);
});

test('other edits do not render the thumbnail again, and edits and posters have events', async () => {
  const { id } = await withPoster(4500);
  const title = await call<AssetJson>(service, `PATCH /media/${id}`, {
    headers: { ...asUser('ann'), 'if-match': '"2"' },
    json: { title: 'Blue' },
  });
  expect(title.body.data).toMatchObject({ poster_time_ms: 4500, version: 3 });
  expect(
    (
      await call(service, `PATCH /media/${id}`, {
        headers: { ...asUser('ann'), 'if-match': '"2"' },
        json: { poster_time_ms: 0 },
      })
    ).status,
  ).toBe(412);
  await choosePoster(service, id, 100);
  await thumbnailTurns(service, id, 'red');
  const updates = (await timelineOf(service, id)).filter(({ type }) => type === 'asset.updated');
  const fieldsBy = (by: string) =>
    updates.filter(({ source }) => source === by).map(({ details }) => details['fields']);
  expect(fieldsBy('caller')).toEqual([['poster_time_ms'], ['title'], ['poster_time_ms']]);
  expect(fieldsBy('service').at(-1)).toEqual(['playback']);
});

test('a repeated report and a new attempt keep the poster time', async () => {
  const { id } = await withPoster(500);
  await choosePoster(service, id, 4500);
  await thumbnailTurns(service, id, 'blue');
  const ready = { asset_id: id, status: 'ready', attempt: 1, run: 1, poster_time_ms: 500 };
  expect(
    await service.adapters.callback.deliver(JSON.stringify(ready), new AbortController().signal),
  ).toEqual({
    processed: true,
  });
  expect((await thumbnailOf(service, id)).colour).toBe('blue');

  await tell(service, 'onprem', { asset_id: id, status: 'failed', attempt: 2 });
  expect(
    (await call(service, `POST /media/${id}/retry?expand=asset`, { headers: asUser('ann') })).status,
  ).toBe(200);
  expect((await thumbnailOf(service, id)).colour).toBe('blue');
  expect((await settled(service, 'ann', id))['stream_status']).toBe('ready');
  expect(await thumbnailOf(service, id)).toMatchObject({
    colour: 'blue',
    etag: expect.stringContaining('3-'),
  });
});

test('the current thumbnail is no orphan, and is deleted with its video', async () => {
  const { id } = await ingest(service, 'ann', { file: film });
  await choosePoster(service, id, 4500);
  await thumbnailTurns(service, id, 'blue');
  const { findings } = await runStorageCheck(service, REMOVE_ORPHANS);
  expect(findings.filter(({ asset_id }) => asset_id === id)).toEqual([]);
  expect((await thumbnailOf(service, id)).colour).toBe('blue');
  expect((await call(service, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
  await eventually(
    () => filesNaming(service.dataDir, id),
    (files) => files.length === 0,
  );
});

describe('an invalid poster time is rejected, and the field is named', () => {
  const expectRefused = async (id: string, value: unknown, details: object = {}) => {
    const version = (await readAsset(service, 'ann', id))['version'];
    const answer = await choosePoster(service, id, value);
    expect(answer.body).toMatchObject({
      code: 400,
      error: { error_code: 'BAD_REQUEST', details: { field: 'poster_time_ms', ...details } },
    });
    expect((await readAsset(service, 'ann', id))['version']).toBe(version);
  };

  test.each([-1, 0.5, 1e300, '500', true, [500], {}, 2 ** 31])('%j', (value) =>
    expectRefused(plain.id, value),
  );
  test.each([6000, 60_000])('%d ms of a video of six seconds', (value) =>
    expectRefused(plain.id, value, { limit: 6000 }),
  );
  test('of an image, or of a video of another provider; null is accepted', async () => {
    const image = await openUpload(service, 'ann', IMAGE);
    const hosted = await linkVideo(service, { provider: 'cdnhost', provider_video_id: 'poster-1' });
    for (const { asset_id: id } of [image, hosted]) {
      await expectRefused(id, 0);
      expect((await choosePoster(service, id, null)).body.data['poster_time_ms']).toBeNull();
    }
  });
  test('a time past the end is the last frame if the duration was not known yet', async () => {
    const { asset_id: id, ...started } = await openUpload(service, 'ann', { mime_type: 'video/mp2t' });
    await choosePoster(service, id, 3_600_000);
    await putBytes(
      { asset_id: id, ...started },
      await readFile(await makeClip({ seconds: 1, width: 160, height: 90, container: 'ts' })),
    );
    await complete(service, 'ann', id);
    expect(await settled(service, 'ann', id)).toMatchObject({
      stream_status: 'ready',
      poster_time_ms: 3_600_000,
    });
    expect((await thumbnailOf(service, id)).etag).toContain('poster-3600000');
  });
});

test('a thumbnail that an encoder reported does not change', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
  await tell(service, 'onprem', {
    asset_id: id,
    status: 'ready',
    playback: { thumbnail: 'https://cdn.example/a.jpg' },
  });
  expect((await choosePoster(service, id, 500)).body.data).toMatchObject({
    poster_time_ms: 500,
    playback: { thumbnail: 'https://cdn.example/a.jpg' },
  });
  expect(await service.adapters.jobs.hasOpenJob('make-poster', { assetId: id })).toBe(false);
});
