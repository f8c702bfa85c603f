// The back end against the real service: a user uploads, and learns by webhooks that the video is ready.
import { createMediary } from '@mediary/client';
import { readSampleVideo, startMediary, type TestMediary } from '@mediary/testing';
import type { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from './app.ts';

/** Of the machine that runs the tests, on which other tests run too. */
const TIMEOUT_MS = 20_000;

let media: TestMediary;
let app: Hono;
beforeAll(async () => {
  media = await startMediary();
  const { url: mediaryUrl, accessTokenSecret, serviceKey, webhooks } = media;
  const settings = { mediaryUrl, accessTokenSecret, serviceKey, webhookSecret: webhooks.secret };
  app = createApp(settings, { html: '', scripts: new Map() });
  webhooks.forwardTo('http://app.test/webhooks/media', app.fetch);
}, 60_000);
afterAll(() => media?.stop());

/** A browser: its cookie, and a client that sends the user's files to the service. */
async function openPage() {
  const page = await app.request('/');
  const cookie = page.headers.get('set-cookie')?.split(';')[0] ?? '';
  const ask = (path: string, method = 'GET') => app.request(path, { method, headers: { cookie } });
  const token = async () => (await ask('/media-token', 'POST')).text();
  return {
    upload: async () => createMediary({ baseUrl: media.url, token }).media.upload(await readSampleVideo()),
    read: async (path: string): Promise<unknown> => (await ask(path)).json(),
  };
}

test("an uploaded video is in its user's list, and in no other", async () => {
  const [ann, ben] = [await openPage(), await openPage()];
  const { id } = await ann.upload();
  await media.waitFor('asset.ready', { assetId: id, timeoutMs: TIMEOUT_MS });
  expect(await ann.read('/videos')).toEqual([{ id, filename: 'sample.mp4', status: 'ready' }]);
  expect(await ben.read('/videos')).toEqual([]);
}, 60_000);

test('a user learns that a video is ready, although the first webhooks are lost', async () => {
  const ann = await openPage();
  media.faults.loseWebhook({ type: 'asset.ready', times: Number.POSITIVE_INFINITY });
  const { id } = await ann.upload();
  await media.client('any').media.waitUntilReady(id, { deadlineMs: TIMEOUT_MS });
  expect(await ann.read('/notices')).toEqual([]);
  media.faults.clear();
  await media.clock.advance('1h');
  await media.waitFor('asset.ready', { assetId: id, timeoutMs: TIMEOUT_MS });
  expect(await ann.read('/notices')).toEqual(['sample.mp4 is ready']);
}, 60_000);

test('a webhook that the service has not signed is refused', async () => {
  const body = JSON.stringify({ id: 'forged', type: 'asset.ready' });
  const response = await app.request('/webhooks/media', { method: 'POST', body });
  expect(response.status).toBe(401);
});
