// Clips: a part of a video becomes a video of its own, exact to a frame and without an upload (contract B4).
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  cutClip,
  type FilmOptions,
  playedStreams,
  requestClip,
  uploadFilm,
} from '../../support/clips/cut-clips.ts';
import { expectFieldRefused, expectRefusal } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, openUpload, putBytes, settled, VIDEO } from '../../support/media.ts';
import { EXACT, NUMBERED, numbersIn } from '../../support/clips/numbered-film.ts';
import { CLEAN, decode, endOf } from '../../support/clips/picture-and-sound.ts';
import { makeSmallPng } from '../../support/encoding/processed-assets.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';
import { rows } from '../../support/service/traces.ts';
import { uploadsOf } from '../../support/postgres/upload-rows.ts';

let service: TestService;
let film: AssetJson;
beforeAll(async () => {
  service = await startTestService();
  film = await upload({ ...NUMBERED, more: [...NUMBERED.more, ...EXACT.h264] });
});
afterAll(() => service.stop());

const upload = (options: FilmOptions) => uploadFilm(service, options);
const request = (id: string, json: object, headers?: Record<string, string>) =>
  requestClip(service, { id, json, ...(headers && { headers }) });
const cut = (id: string, json: object) => cutClip(service, id, json);
const played = (id: string) => playedStreams(service, id);

describe('a clip', () => {
  test('is ready with the very frames that players of the video see, and named after it', async () => {
    const clip = await cut(film.id, { start_ms: 3480, end_ms: 5000, title: 'The middle' });
    expect(clip).toMatchObject({
      stream_status: 'ready',
      kind: 'video',
      provider: 'onprem',
      owner_user_id: 'ann',
      filename: 'holiday film-clip.mp4',
      mime_type: 'video/mp4',
      visibility: 'private',
      title: 'The middle',
      duration_ms: 1520,
      width: 160,
      height: 90,
      clip_of: { id: film.id, start_ms: 3480, end_ms: 5000 },
      warnings: [],
    });
    const { picture, sound } = await played(clip.id);
    const source = await played(film.id);
    expect(await numbersIn(picture)).toEqual((await numbersIn(source.picture)).slice(87, 125));
    expect(await endOf(sound)).toBeCloseTo(1.52, 1);
    expect(await uploadsOf(service, clip.id)).toMatchObject([{ protocol: 'clip', is_finished: true }]);
    expect(await rows(service.dataDir, 'select * from clips where asset_id = $1', [clip.id])).toEqual([]);
  });

  test('can be downloaded as an MP4 file of this length', async () => {
    const clip = await cut(film.id, { start_ms: 0, end_ms: 2000, filename: 'intro.mp4' });
    const { body } = await call<{ url: string; filename: string }>(
      service,
      `GET /media/${clip.id}/download-url`,
      { headers: asUser('ann') },
    );
    expect(body.data.filename).toBe('intro.mp4');
    const file = join(await newDataDir(), 'intro.mp4');
    await writeFile(file, Buffer.from(await (await fetch(body.data.url)).arrayBuffer()));
    expect((await readFile(file)).subarray(4, 8).toString()).toBe('ftyp');
    expect(await decode(file)).toEqual(CLEAN);
    expect(await numbersIn({ url: file, stream: 'v:0' })).toHaveLength(50);
  });

  test('is told in its timeline, and stays when the video is deleted; a clip can be cut again', async () => {
    const source = await upload({ seconds: 3 });
    const clip = await cut(source.id, { start_ms: 500, end_ms: 2500 });
    expect((await call(service, `DELETE /media/${source.id}`, { headers: asUser('ann') })).status).toBe(200);
    const timeline = await call<{ items: { sentence: string; details: object }[] }>(
      service,
      `GET /media/${clip.id}/timeline`,
      { headers: asUser('ann') },
    );
    expect(timeline.body.data.items[0]).toMatchObject({
      sentence:
        'The caller created the asset; ' +
        `the service cuts it from 500 to 2500 ms of the video ${source.id}.`,
      details: { clip_of: { id: source.id, start_ms: 500, end_ms: 2500 } },
    });
    const again = await cut(clip.id, { start_ms: 0, end_ms: 1000, visibility: 'public' });
    expect(again).toMatchObject({
      stream_status: 'ready',
      duration_ms: 1000,
      visibility: 'public',
      clip_of: { id: clip.id },
    });
    expect((await fetch((again['playback'] as { hls: string }).hls)).status).toBe(200);
    expect((await fetch((clip['playback'] as { hls: string }).hls)).status, 'private').toBe(404);
  });

  test('is created once for an Idempotency-Key', async () => {
    const headers = { ...asUser('ann'), 'idempotency-key': 'clip-once' };
    const json = { start_ms: 0, end_ms: 1000 };
    const first = await request(film.id, json, headers);
    expect((await request(film.id, json, headers)).body.data.id).toBe(first.body.data.id);
    expectRefusal(await request(film.id, { ...json, end_ms: 1100 }, headers), 409);
    await settled(service, 'ann', first.body.data.id);
  });
});

describe('a request is refused', () => {
  test.each([
    ['start_ms', { start_ms: -1, end_ms: 1000 }],
    ['start_ms', { start_ms: 0.5, end_ms: 1000 }],
    ['start_ms', { start_ms: '0', end_ms: 1000 }],
    ['start_ms', { end_ms: 1000 }],
    ['end_ms', { start_ms: 0 }],
    ['end_ms', { start_ms: 2000, end_ms: 2000 }],
    ['end_ms', { start_ms: 2000, end_ms: 1000 }],
    ['end_ms', { start_ms: 2000, end_ms: 2499 }],
    ['end_ms', { start_ms: 0, end_ms: 600_000 }],
    ['filename', { start_ms: 0, end_ms: 1000, filename: ' ' }],
    ['visibility', { start_ms: 0, end_ms: 1000, visibility: 'hidden' }],
    ['provider', { start_ms: 0, end_ms: 1000, provider: 'edgehost' }],
  ])('with its field: %s in %j', async (field, json) => {
    expectFieldRefused(await request(film.id, json), field);
  });

  test('with the limit, for a part that ends after the video or is too short', async () => {
    const late = expectRefusal(await request(film.id, { start_ms: 0, end_ms: 6001 }), 400);
    expect(late.details).toMatchObject({ limit: film['duration_ms'] });
    const short = expectRefusal(await request(film.id, { start_ms: 100, end_ms: 599 }), 400);
    expect(short.details).toMatchObject({ limit: 600 });
  });

  const reasonOf = async (id: string, headers?: Record<string, string>) =>
    expectRefusal(await request(id, { start_ms: 0, end_ms: 1000 }, headers), 409).details?.['reason'];

  test('for an image, and for a video that waits for its upload or has failed', async () => {
    const image = await openUpload(service, 'ann', IMAGE);
    await putBytes(image, await makeSmallPng());
    expect(await reasonOf(image.asset_id)).toBe('not_video');
    const waiting = await openUpload(service, 'ann');
    expect(await reasonOf(waiting.asset_id)).toBe('not_uploaded');
    await putBytes(waiting, Buffer.from('no video'));
    expect(await reasonOf(waiting.asset_id)).toBe('not_uploaded');
    await call(service, `POST /media/${waiting.asset_id}/complete`, { headers: asUser('ann') });
    expect(await reasonOf(waiting.asset_id)).toBe('wrong_status');
  });

  test('for a video that a hosted provider stores', async () => {
    const linked = await call<{ asset_id: string }>(service, 'POST /media/upload-url?expand=asset', {
      headers: asService,
      json: { ...VIDEO, owner_user_id: 'ann', provider: 'cdnhost', provider_video_id: 'clip-source' },
    });
    expect(await reasonOf(linked.body.data.asset_id)).toBe('not_stored_here');
  });

  test("for another user's video, and for one in the trash; a service that names the owner may", async () => {
    const json = { start_ms: 0, end_ms: 1000 };
    expectRefusal(await request(film.id, json, asUser('bob')), 403);
    expectFieldRefused(await request(film.id, json, asService), 'owner_user_id');
    const made = await request(film.id, { ...json, owner_user_id: 'ann' }, asService);
    expect(made.body.data['owner_user_id']).toBe('ann');
    await settled(service, 'ann', made.body.data.id);
    const source = await upload({ seconds: 1 });
    await call(service, `DELETE /media/${source.id}?trash=true`, { headers: asUser('ann') });
    expectRefusal(await request(source.id, { start_ms: 0, end_ms: 500 }), 404);
  });

  test("when the owner's quota is exceeded; bytes above it fail the clip", async () => {
    const limit = (json: object) =>
      call(service, 'PUT /admin/owners/ann/limits', { headers: asOperator, json });
    try {
      await limit({ max_bytes: 1 });
      const failed = await cut(film.id, { start_ms: 0, end_ms: 1000 });
      expect(failed).toMatchObject({ stream_status: 'failed', failure: { code: 'clip_too_large' } });
      expect(failed.failure?.message).toContain('quota');
      await limit({ max_pending: 0 });
      const refused = expectRefusal(await request(film.id, { start_ms: 0, end_ms: 1000 }), 400);
      expect(refused.details).toMatchObject({ reason: 'quota_exceeded', field: 'pending' });
    } finally {
      await call(service, 'DELETE /admin/owners/ann/limits', { headers: asOperator });
    }
  });
});
