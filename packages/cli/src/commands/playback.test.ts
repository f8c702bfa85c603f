// Tests which URL `open` prints, and what it says where there is none.
import { createHmac } from 'node:crypto';
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runInProcess, serve } from '../program.fixture.ts';

const READY = {
  kind: 'video',
  stream_status: 'ready',
  hls: 'http://media.test/hls.m3u8',
  dash: null,
  thumbnail: 'http://media.test/thumb.jpg',
  embed: 'http://media.test/embed',
};

const SIGNING_KEY = 'key of images';

let server: Server;
let url: string;
let playback: Record<string, unknown>;
beforeAll(async () => {
  ({ server, url } = await serve((request, response) => {
    const data = request.url?.endsWith('/image-signing-key')
      ? { key: SIGNING_KEY, algorithm: 'HMAC-SHA256' }
      : playback;
    response.end(JSON.stringify({ success: true, data }));
  }));
});
afterAll(() => {
  server.close();
});

const open = (...args: string[]) =>
  runInProcess(['open', 'a-1', ...args], {
    env: { HOME: '/none', MEDIARY_URL: url, MEDIARY_TOKEN: 'secret', BROWSER: 'true' },
    folder: '/',
  });

test('prints the manifest, and opens the page that plays it', async () => {
  playback = READY;
  expect(await open()).toMatchObject({ code: 0, stdout: `${READY.hls}\n` });
  expect(await open('--browser')).toMatchObject({ code: 0, stdout: `${READY.embed}\n` });
});

test('does not advise to wait for a format that a ready video does not have', async () => {
  playback = READY;
  const { code, stderr } = await open('--format', 'dash');
  expect(code).toBe(1);
  expect(stderr).toContain('Available: hls, embed, thumbnail');
  expect(stderr).not.toContain('watch');
});

test('advises to wait for a video that is not playable yet', async () => {
  playback = { ...READY, stream_status: 'processing', hls: null };
  expect((await open()).stderr).toContain('Wait for it: mediary watch a-1');
});

const PICTURE = {
  kind: 'image',
  stream_status: 'ready',
  image: 'http://media.test/api/v1/playback/a-1/image?v=1-300x600',
};

test('signs the URL of an image in another size, by the key of the service', async () => {
  playback = PICTURE;
  const edit = ['--width', '320', '--height', '180', '--fit', 'cover', '--gravity', '0.3,0.6'];
  const { code, stdout } = await open(...edit, '--image-format', 'webp', '--rotate', '90');
  expect(code).toBe(0);
  const { searchParams } = new URL(stdout.trim());
  const { s, ...parameters } = Object.fromEntries(searchParams);
  expect(parameters).toEqual({
    ...{ w: '320', h: '180', fit: 'cover', gravity: '0.3,0.6', format: 'webp', rotate: '90' },
    v: '1-300x600',
  });
  const text = 'a-1?fit=cover&format=webp&gravity=0.3,0.6&h=180&rotate=90&w=320';
  expect(s).toBe(createHmac('sha256', SIGNING_KEY).update(text).digest('base64url'));
  expect(await open()).toMatchObject({ stdout: `${PICTURE.image}\n` });
});

test.each([
  [['--rotate', '45'], '90, 180 or 270'],
  [['--gravity', 'top'], 'from 0,0 (top left) to 1,1'],
  [['--quality', '0'], 'from 1 to 100'],
  [['--dpr', '5'], '1, 2, 3 or 4'],
  [['--background', 'red'], 'RRGGBB'],
  [['--width', '64', '--format', 'hls'], 'A size is for images'],
])('refuses %j', async (args, message) => {
  playback = PICTURE;
  const { code, stderr } = await open(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});
