// Files of unknown size at a provider that takes large files only with their length: the service creates the
// upload once the client says the length, and the bytes go to the provider (contract B4).
import { readFile } from 'node:fs/promises';
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../support/clips/clips.ts';
import {
  askUpload,
  completeArrived,
  type Hosts,
  sendBytes,
  startHosts,
  timelineOf,
} from '../../support/providers/hosted.ts';
import { readAsset, settled, type Started } from '../../support/media.ts';
import { asUser, call, eventually } from '../../support/service.ts';
import { patch, send, TUS, tusUrl } from '../../support/uploads/tus.ts';
import { deliver, notProcessed, signatureOf } from '../../support/providers/webhooks.ts';

const MAX_BYTES = 1_000_000_000;
const LIMITS = { MAX_UPLOAD_BYTES: String(MAX_BYTES), OWNER_MAX_BYTES: '500000000' };
let hosts: Hosts;
let clip: Uint8Array;
beforeAll(async () => {
  clip = await readFile(await makeClip({ seconds: 2 }));
  hosts = await startHosts({ ffmpegPath: await ffmpegPath() }, LIMITS);
});
afterAll(() => hosts?.stop());
afterEach(() => hosts.sims.reset());

type Opened = Started & { readonly alternatives: readonly UploadTarget[] };

async function open(): Promise<Opened> {
  const { status, body } = await askUpload(hosts.service, 'edgehost', { size_bytes: undefined });
  expect(status).toBe(200);
  return body.data as Opened;
}

const create = (url: string, headers: Record<string, string> = {}) =>
  send(`POST ${url}`, { ...TUS, 'upload-length': String(clip.length), ...headers });

const linkedVideo = async (id: string) =>
  (await readAsset(hosts.service, 'ann', id))['provider_video_id'] as string;

/** The provider's videos of an asset. */
const videosOf = (id: string): string[] =>
  hosts.sims.edgehost
    .videos()
    .filter(({ meta }) => meta['mediary_asset_id'] === id)
    .map(({ uid }) => uid);

test('the form says its limit, and a tus target takes every size', async () => {
  const { upload, alternatives, asset_id: id } = await open();
  expect(upload).toMatchObject({ protocol: 'form', max_bytes: 200_000_000 });
  expect(alternatives).toEqual([
    expect.objectContaining({
      protocol: 'tus',
      method: 'POST',
      url: expect.stringContaining(`${hosts.service.url}/uploads/${id}/tus?ticket=`),
      headers: {},
      fields: {},
      chunk_size_bytes: 52_428_800,
      chunk_size_multiple_bytes: 262_144,
      max_bytes: MAX_BYTES,
    }),
  ]);
  const announced = await askUpload(hosts.service, 'edgehost', { size_bytes: clip.length });
  expect((announced.body.data as Opened).alternatives).toEqual([]);
});

test('a stock client uploads through it, and the video replaces the one of the form', async () => {
  const opened = await open();
  const id = opened.asset_id;
  const ofForm = await linkedVideo(id);
  await sendBytes(opened.alternatives[0] as UploadTarget, clip);
  await completeArrived(hosts.service, id);
  const ready = await settled(hosts.service, 'ann', id);
  expect(ready).toMatchObject({ stream_status: 'ready', failure: null });
  expect(ready['provider_video_id']).not.toBe(ofForm);
  expect(videosOf(id)).toEqual([ready['provider_video_id']]);
  expect(hosts.sims.edgehost.videos().find(({ uid }) => uid === ready['provider_video_id'])).toMatchObject({
    creator: 'mediary',
    maxDurationSeconds: 3600,
  });
  expect((await create(tusUrl(opened))).status).toBe(409);
});

test('its URL is at the provider, and a second creation replaces it until all bytes are there', async () => {
  const opened = await open();
  const first = await create(tusUrl(opened));
  expect(first.status).toBe(201);
  expect(first.headers.get('location')).toContain(`${hosts.sims.edgehost.url}/tus/`);
  const second = await create(tusUrl(opened));
  const location = second.headers.get('location') as string;
  expect(location).not.toBe(first.headers.get('location'));
  const linked = await linkedVideo(opened.asset_id);
  expect(videosOf(opened.asset_id)).toEqual([linked]);
  expect((await patch(location, 0, clip)).status).toBe(204);
  await eventually(
    async () => hosts.sims.edgehost.videos().find(({ uid }) => uid === linked)?.status.state,
    (state) => state !== 'pendingupload',
  );
  const third = await create(tusUrl(opened));
  expect([third.status, third.reason]).toEqual([409, 'already_uploaded']);
});

test('of simultaneous creations one wins, and the videos of the others are removed', async () => {
  const opened = await open();
  const replies = await Promise.all([1, 2, 3].map(() => create(tusUrl(opened))));
  expect(replies.map(({ status }) => status).filter((status) => status !== 409)).toContain(201);
  expect(videosOf(opened.asset_id)).toEqual([await linkedVideo(opened.asset_id)]);
});

test('a video that cannot be removed is left to the orphan job, and the creation succeeds', async () => {
  const opened = await open();
  const ofForm = await linkedVideo(opened.asset_id);
  hosts.sims.edgehost.setFault({ on: 'api', do: 'status', route: 'delete', status: 500 });
  expect((await create(tusUrl(opened))).status).toBe(201);
  const linked = await linkedVideo(opened.asset_id);
  expect(linked).not.toBe(ofForm);
  expect(videosOf(opened.asset_id).sort()).toEqual([ofForm, linked].sort());
});

describe('while the provider', () => {
  test('limits the rate, a creation waits as it says, and can be repeated', async () => {
    const opened = await open();
    const id = opened.asset_id;
    const before = await linkedVideo(id);
    hosts.sims.edgehost.setFault({
      on: 'api',
      do: 'status',
      status: 429,
      retryAfter: 1,
      route: 'tus-create',
      times: 1,
    });
    const limited = await create(tusUrl(opened));
    expect([limited.status, limited.reason]).toEqual([503, 'provider_rate_limited']);
    expect(limited.headers.get('retry-after')).toBe('1');
    expect(limited.headers.get('tus-resumable')).toBe('1.0.0');
    expect([await linkedVideo(id), videosOf(id)]).toEqual([before, [before]]);
    expect((await timelineOf(hosts.service, id)).at(-1)).toMatchObject({
      type: 'asset.checked',
      details: { code: 'provider_rate_limited' },
    });
    const repeated = await eventually(
      () => create(tusUrl(opened)),
      ({ status }) => status !== 503,
    );
    expect(repeated.status).toBe(201);
    expect(videosOf(id)).toEqual([await linkedVideo(id)]);
  });

  test('reports on the video before it is linked, the report is applied with the link', async () => {
    const opened = await open();
    const id = opened.asset_id;
    const ofForm = await linkedVideo(id);
    hosts.sims.edgehost.setFault({ on: 'api', do: 'slow', ms: 1500, route: 'tus-create', times: 1 });
    const creation = create(tusUrl(opened));
    const [uid] = await eventually(
      async () => videosOf(id).filter((video) => video !== ofForm),
      (uids) => uids.length > 0,
    );
    const body = { uid, status: { state: 'error', errorReasonCode: 'ERR_NON_VIDEO' } };
    const secret = hosts.sims.environment['EDGEHOST_STREAM_WEBHOOK_SECRET'] ?? '';
    const report = { body, headers: signatureOf('edgehost', body, { secret }) };
    expect(await deliver(hosts.service, 'edgehost', report)).toEqual(notProcessed('parked'));
    expect((await creation).status).toBe(201);
    expect(await readAsset(hosts.service, 'ann', id)).toMatchObject({
      provider_video_id: uid,
      stream_status: 'failed',
      failure: { code: expect.any(String) },
    });
  });
});

describe('a creation is refused', () => {
  test.each([
    ['without the version of the protocol', { 'tus-resumable': '0.2.2' }, 412],
    ['without a length', { 'upload-length': '' }, 400],
    ['with a length that comes later', { 'upload-length': '', 'upload-defer-length': '1' }, 400],
    ['for a part of a file', { 'upload-concat': 'partial' }, 400],
    ['of no bytes', { 'upload-length': '0' }, 400],
    ['over the quota of the owner', { 'upload-length': '500000001' }, 400],
    ['over the maximum', { 'upload-length': String(MAX_BYTES + 1) }, 413],
  ])('%s', async (_what, headers, status) => {
    const opened = await open();
    const before = await linkedVideo(opened.asset_id);
    expect((await create(tusUrl(opened), headers)).status).toBe(status);
    expect(videosOf(opened.asset_id)).toEqual([before]);
  });

  test('with bytes', async () => {
    const url = tusUrl(await open());
    const headers = { ...TUS, 'upload-length': String(clip.length) };
    const type = { 'content-type': 'application/offset+octet-stream' };
    expect((await send(`POST ${url}`, { ...headers, ...type }, clip)).status).toBe(400);
  });

  test('with a forged ticket, and its ticket opens nothing else', async () => {
    const [opened, other] = [await open(), await open()];
    const url = tusUrl(opened);
    const { search } = new URL(tusUrl(other));
    for (const bad of [url.replace(/\?.*/, ''), `${url}x`, url.replace(/\?.*/, search)])
      expect((await create(bad)).status).toBe(401);
    expect((await send(`PUT ${url.replace('/tus', '')}`, { 'content-type': 'video/mp4' }, clip)).status).toBe(
      401,
    );
    expect((await send(`HEAD ${url.replace('/tus?', '/tus/upload-1?')}`)).status).toBe(404);
  });

  test('after the asset was deleted', async () => {
    const opened = await open();
    await call(hosts.service, `DELETE /media/${opened.asset_id}`, { headers: asUser('ann') });
    expect((await create(tusUrl(opened))).status).toBe(404);
  });
});
