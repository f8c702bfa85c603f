// Tests which URL `open` prints, and what it says where there is none.
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

let server: Server;
let url: string;
let playback: Record<string, unknown>;
beforeAll(async () => {
  ({ server, url } = await serve((_request, response) =>
    response.end(JSON.stringify({ success: true, data: playback })),
  ));
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
