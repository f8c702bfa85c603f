// Posters of videos that the service encoded are available in every size, at the same URL as images.
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  choosePoster,
  colourfulClip,
  type Colour,
  thumbnailAt,
  thumbnailTurns,
} from '../../support/playback/posters.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest, openUpload } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';
import { tell } from '../../support/providers/webhooks.ts';

type PlaybackUrls = { image?: string; thumbnail: string | null };

let service: TestService;
let hidden: AssetJson;
let shown: AssetJson;

beforeAll(async () => {
  service = await startTestService();
  const large = await makeClip({ seconds: 1, width: 1280, height: 720, audio: false });
  [hidden, shown] = await Promise.all([
    ingest(service, 'ann', { file: await colourfulClip() }),
    ingest(service, 'ann', { file: large, fields: { visibility: 'public' } }),
  ]);
});
afterAll(() => service.stop());

const urlsOf = async ({ id }: Pick<AssetJson, 'id'>): Promise<PlaybackUrls> =>
  (await call<PlaybackUrls>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;

const fixed = ({ id }: AssetJson, query: string) => `${service.url}/playback/${id}/image?${query}`;

async function pictureAt(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers });
  const { width, height, format } = await sharp(await answer.arrayBuffer()).metadata();
  return { status: answer.status, width, height, format };
}

test('a public poster has a fixed path, and the size and format that the page requests', async () => {
  expect(await pictureAt(fixed(shown, 'w=640'))).toEqual({
    status: 200,
    width: 640,
    height: 360,
    format: 'jpeg',
  });
  expect(await pictureAt(fixed(shown, 'w=64&h=64&fit=cover&format=png'))).toMatchObject({
    width: 64,
    height: 64,
    format: 'png',
  });
  const browser = { accept: 'image/avif,image/webp,*/*' };
  expect(await pictureAt(fixed(shown, 'w=320'), browser)).toMatchObject({ width: 320, format: 'heif' });
  expect((await pictureAt(fixed(shown, 'w=3840'))).width).toBe(1280);
  expect((await urlsOf(shown)).image).toBe(fixed(shown, 'v=1-1-1-auto'));
});

test('a private poster needs the signed URL', async () => {
  const { image = '' } = await urlsOf(hidden);
  expect(await pictureAt(`${image}&w=64`)).toMatchObject({ status: 200, width: 64, height: 36 });
  expect((await fetch(`${image}&w=64`)).headers.get('cache-control')).toBe('private, max-age=300');
  expect((await fetch(fixed(hidden, 'w=64'))).status).toBe(404);
  expect((await fetch(image.replace(/~[^/]+/, '~wrong'))).status).toBe(401);
});

test('changes with the poster, and so does its URL', async () => {
  const colourOf = async (): Promise<Colour> =>
    (await thumbnailAt(`${(await urlsOf(hidden)).image}&w=64`)).colour;
  const { image: before = '' } = await urlsOf(hidden);
  expect(await colourOf()).toBe('green');
  const { etag } = await thumbnailAt(`${before}&w=64`);
  await choosePoster(service, hidden.id, 4500);
  await thumbnailTurns(service, hidden.id, 'blue');

  const { image: after = '' } = await urlsOf(hidden);
  expect([new URL(before).searchParams.get('v'), new URL(after).searchParams.get('v')]).toEqual([
    '1-1-1-auto',
    '1-1-1-4500',
  ]);
  expect(await colourOf()).toBe('blue');
  expect((await fetch(`${before}&w=64`, { headers: { 'if-none-match': etag ?? '' } })).status).toBe(200);
  expect((await filesNaming(service.dataDir, `variants/${hidden.id}/`)).length).toBe(1);
});

test('is deleted with its video', async () => {
  const doomed = await ingest(service, 'ann', {
    file: await makeClip({ seconds: 1, width: 160, height: 90 }),
  });
  const { image = '' } = await urlsOf(doomed);
  expect((await fetch(`${image}&w=64`)).status).toBe(200);
  await call(service, `DELETE /media/${doomed.id}`, { headers: asUser('ann') });
  expect((await fetch(`${image}&w=64`)).status).toBe(404);
  await eventually(
    () => filesNaming(service.dataDir, doomed.id),
    (files) => files.length === 0,
  );
});

test('does not exist for videos of other encoders or before encoding', async () => {
  const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
  expect(await urlsOf({ id })).toMatchObject({ image: null });
  const playback = { hls: 'https://cdn.example/a.m3u8', thumbnail: 'https://cdn.example/a.jpg' };
  await tell(service, 'onprem', { asset_id: id, status: 'ready', playback });
  expect(await urlsOf({ id })).toMatchObject({ image: null });
  expect((await fetch(`${service.url}/playback/${id}/image?w=64`)).status).toBe(404);
});
