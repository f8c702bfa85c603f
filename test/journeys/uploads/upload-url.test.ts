// The fields of upload-url, its validation and its response (contract A1, B1, B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, type Started, VIDEO } from '../../support/media.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MAX_UPLOAD_BYTES: '1000000' });
});
afterAll(() => service.stop());

const ask = (json: object, headers: Record<string, string> = asUser('ann')) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', { headers, json });
const askFor = (fields: object) => ask({ ...VIDEO, ...fields });

const expectTaken = async (asked: Promise<Answer<Started>>): Promise<Started> =>
  expectSuccess<Started>(await asked);

describe('the required fields', () => {
  test.each(['filename', 'content_type', 'mime_type'])('%s must be a non-empty string', async (field) => {
    for (const value of [undefined, null, '', 7, true, [], {}, ['a']])
      expectFieldRefused(await askFor({ [field]: value }), field);
  });

  test('content_type is returned unchanged', async () => {
    for (const content_type of ['video', 'VIDEO', 'video/x-anything; a=b', 'film', ' video ', 'Ünïcode 🎬']) {
      expect((await expectTaken(askFor({ content_type }))).asset['content_type']).toBe(content_type);
    }
  });

  test.each([
    [VIDEO, 'image'],
    [VIDEO, 'image/png'],
    [VIDEO, 'IMAGE/jpeg'],
    [IMAGE, 'video'],
    [IMAGE, 'video/mp4'],
  ])('a content_type that contradicts the mime_type is rejected (%j, %s)', async (fields, content_type) => {
    expectFieldRefused(await ask({ ...fields, content_type }), 'content_type');
  });

  test.each([
    'image/jpeg',
    'image/png',
    'image/webp',
    'image/avif',
    'image/gif',
    'video/mp4',
    'video/quicktime',
    'video/webm',
    'video/x-matroska',
    'video/mp2t',
  ])('mime_type %s is accepted', async (mime_type) => {
    const { asset } = await expectTaken(askFor({ mime_type, content_type: 'file' }));
    expect(asset).toMatchObject({
      mime_type,
      kind: mime_type.split('/')[0],
      provider: mime_type.startsWith('video') ? 'onprem' : null,
    });
  });

  test('a mime_type may be written in any case, with parameters', async () => {
    const started = await expectTaken(askFor({ mime_type: 'Video/MP4; codecs="avc1.42E01E"' }));
    expect(started.asset['mime_type']).toBe('video/mp4');
    expect(started.upload?.headers).toEqual({ 'Content-Type': 'video/mp4' });
  });

  test.each([
    'image/svg+xml',
    'IMAGE/SVG+XML',
    'text/html',
    'application/xhtml+xml',
    'text/plain',
    'application/pdf',
    'application/octet-stream',
    'audio/midi',
    'video/*',
    '*/*',
    'video',
    'video/mp4, text/html',
    'video/mp4\r\nX: y',
    'image/svg+xml; video/mp4',
    'video/mp4/x',
    ' ',
    'application/vnd.apple.mpegurl',
    'toString',
    '__proto__',
  ])('mime_type %j is rejected', async (mime_type) => {
    expectFieldRefused(await askFor({ mime_type, content_type: 'file' }), 'mime_type');
  });
});

describe('the owner', () => {
  test.each(['', ' ', 'eve', 'x'.repeat(300)])(
    'is the user, whatever owner_user_id is (%j)',
    async (owner_user_id) => {
      expect((await expectTaken(askFor({ owner_user_id }))).asset['owner_user_id']).toBe('ann');
    },
  );

  test.each([7, null, {}, [], true])('is a string: %j is refused, of any caller', async (owner_user_id) => {
    expectFieldRefused(await askFor({ owner_user_id }), 'owner_user_id');
    for (const [method, path] of [
      ['POST', 'complete'],
      ['PATCH', ''],
      ['DELETE', ''],
    ] as const) {
      const { asset_id: id } = await expectTaken(askFor({}));
      const url = `${method} /media/${id}/${path}`.replace(/\/$/, '');
      expectFieldRefused(
        await call(service, url, { headers: asService, json: { owner_user_id } }),
        'owner_user_id',
      );
    }
  });

  test('is named once in a query', async () => {
    const path = 'GET /media?owner_user_id=ann&owner_user_id=bob';
    expectFieldRefused(await call(service, path, { headers: asService }), 'owner_user_id');
    expectSuccess(await call(service, 'GET /media?owner_user_id=4711', { headers: asService }));
  });

  test('is named by a service caller', async () => {
    expect(
      (await expectTaken(ask({ ...VIDEO, owner_user_id: 'bob' }, asService))).asset['owner_user_id'],
    ).toBe('bob');
    for (const owner_user_id of [
      undefined,
      null,
      '',
      ' ',
      {},
      [],
      true,
      4711,
      0.5,
      'x'.repeat(256),
      'a\nb',
      '\ud800',
    ])
      expectFieldRefused(await ask({ ...VIDEO, owner_user_id }, asService), 'owner_user_id');
  });
});

test('the response has the upload target', async () => {
  const { asset_id: id, asset, upload_url: url, upload, ...more } = await expectTaken(askFor({}));
  expect(Object.keys(more)).toEqual(['is_existing', 'alternatives']);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(asset.id).toBe(id);
  expect(upload).toEqual({
    protocol: 'put',
    method: 'PUT',
    url,
    headers: { 'Content-Type': 'video/mp4' },
    expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    max_bytes: 1_000_000,
  });
  expect(url).toMatch(new RegExp(`^${service.address}/api/v1/uploads/${id}\\?ticket=[A-Za-z0-9_-]+$`));
  const lifetime = Date.parse(upload?.expires_at ?? '') - Date.parse(asset['created_at'] as string);
  expect(lifetime).toBe(86_400_000);
});

test('the asset has exactly the documented members', async () => {
  const { asset } = await expectTaken(askFor({}));
  expect(asset).toEqual({
    id: asset.id,
    owner_user_id: 'ann',
    kind: 'video',
    ...VIDEO,
    size_bytes: null,
    checksum_sha256: null,
    duplicate_of: null,
    clip_of: null,
    version_of: null,
    visibility: 'private',
    stream_status: 'pending_upload',
    provider: 'onprem',
    provider_video_id: null,
    playback: null,
    playable_at: null,
    ready_at: null,
    progress: 0,
    expected_playable_at: null,
    expected_ready_at: null,
    expected_ready_range: null,
    queue_position: null,
    renditions: [],
    width: null,
    height: null,
    duration_ms: null,
    placeholder: null,
    media: null,
    poster_time_ms: null,
    focal_point: null,
    access: null,
    chapters: [],
    warnings: [],
    failure: null,
    title: null,
    tags: [],
    metadata: null,
    external_id: null,
    expires_at: null,
    version: 1,
    created_at: asset['created_at'],
    updated_at: asset['created_at'],
    uploaded_at: null,
    deleted_at: null,
  });
});
