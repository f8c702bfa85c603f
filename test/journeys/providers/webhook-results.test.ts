// Responses to reports, and the resulting states of assets (contract B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Secret } from '../../../service/src/auth/secret.ts';
import { deriveKey } from '../../../service/src/auth/signed-token.ts';
import { complete, IMAGE, openUpload, putBytes, readAsset } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import {
  deliver,
  deliveriesOf,
  eventsOf,
  LIBRARY,
  linkVideo,
  notProcessed,
  openReportedVideo,
  PLAYBACK,
  PROCESSED,
  READY,
  signatureOf,
  tell,
} from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY) });
});
afterAll(() => service?.stop());

const newVideo = () => openReportedVideo(service);

describe('reports within one attempt', () => {
  test('update progress and renditions, which never decrease', async () => {
    const { say, read } = await newVideo();
    expect(
      await say('processing', { progress: 40, renditions: [{ height: 720, state: 'encoding' }] }),
    ).toEqual(PROCESSED);
    expect(
      await say('processing', {
        progress: 20.7,
        renditions: [
          { height: 720, state: 'queued' },
          { height: 240, state: 'ready', bitrate: 300_000 },
        ],
      }),
    ).toEqual(PROCESSED);
    expect(await read()).toMatchObject({
      stream_status: 'processing',
      progress: 40,
      renditions: [
        { height: 720, state: 'encoding' },
        { height: 240, state: 'ready', bitrate: 300_000 },
      ],
    });
  });

  test('that repeat are processed, and change nothing but the list of deliveries', async () => {
    const { id, ready, read } = await newVideo();
    await ready();
    const before = await read();
    for (let time = 0; time < 5; time++) expect(await ready()).toEqual(PROCESSED);
    expect(await read()).toEqual(before);
    expect(await eventsOf(service, id)).toEqual(['asset.created', 'asset.playable', 'asset.ready']);
    expect((await deliveriesOf(service, id)).map(({ reason }) => reason)).toEqual([
      'applied',
      'repeat',
      'repeat',
      'repeat',
      'repeat',
      'repeat',
    ]);
  });

  test('that are late are not processed; a late failure adds a warning only', async () => {
    const { ready, say, read, plays } = await newVideo();
    await ready();
    const before = await read();
    expect(await say('processing', { progress: 10 })).toEqual(notProcessed('late'));
    expect(await read()).toEqual(before);
    for (let time = 0; time < 3; time++) expect(await say('failed')).toEqual(notProcessed('late'));
    expect(await read()).toEqual({
      ...before,
      warnings: [{ code: 'encoding_incomplete', message: expect.any(String) }],
      updated_at: expect.any(String),
    });
    expect(await plays()).toBe(PLAYBACK.hls);
  });

  test('can follow a failure', async () => {
    const { say, ready, read } = await newVideo();
    expect(await say('failed')).toEqual(PROCESSED);
    expect(await say('processing')).toEqual(notProcessed('late'));
    expect(await ready()).toEqual(PROCESSED);
    expect(await read()).toMatchObject({ stream_status: 'ready', failure: null });
  });
});

describe('a higher attempt', () => {
  test('starts again while the earlier video plays; reports of older attempts are ignored', async () => {
    const { ready, say, read, plays } = await newVideo();
    await ready();
    expect(await say('processing', { attempt: 2, progress: 5 })).toEqual(PROCESSED);
    expect(await read()).toMatchObject({
      stream_status: 'processing',
      progress: 5,
      ready_at: null,
      playback: PLAYBACK,
    });
    expect(await plays()).toBe(PLAYBACK.hls);
    expect(await ready({ attempt: 1 })).toEqual(notProcessed('older_attempt'));
    expect(await ready({ attempt: 2, playback: { hls: 'https://v.example/2.m3u8' } })).toEqual(PROCESSED);
    expect(await plays()).toBe('https://v.example/2.m3u8');
  });

  test('replaces a ready state', async () => {
    const { ready, say, read, plays } = await newVideo();
    await ready();
    expect(await say('failed', { attempt: 2 })).toEqual(PROCESSED);
    expect(await read()).toMatchObject({
      stream_status: 'failed',
      progress: 0,
      failure: { code: 'encode_failed' },
    });
    expect(await plays()).toBe(PLAYBACK.hls);
  });
});

describe('a report that is not processed', () => {
  test('names an unknown asset: it is recorded, and parked if its provider is hosted', async () => {
    expect(await tell(service, 'onprem', READY.onprem(randomUUID()))).toEqual(notProcessed('unknown_asset'));
    for (const provider of ['cdnhost', 'edgehost'] as const)
      expect(await tell(service, provider, READY[provider](randomUUID()))).toEqual(notProcessed('parked'));
  });

  test('names an asset of another provider, or an image', async () => {
    const videoId = randomUUID();
    const { asset_id: hosted } = await linkVideo(service, {
      provider: 'cdnhost',
      provider_video_id: videoId,
    });
    expect(await tell(service, 'onprem', READY.onprem(hosted))).toEqual(notProcessed('wrong_provider'));
    expect(await tell(service, 'edgehost', READY.edgehost(videoId))).toEqual(notProcessed('parked'));
    expect((await readAsset(service, 'ann', hosted)).stream_status).toBe('pending_upload');
    const { asset_id: image } = await openUpload(service, 'ann', IMAGE);
    for (const status of ['ready', 'processing', 'failed'])
      expect(await tell(service, 'onprem', { asset_id: image, status })).toEqual(
        notProcessed('wrong_provider'),
      );
    expect((await readAsset(service, 'ann', image)).stream_status).toBe('pending_upload');
  });

  test('names a deleted asset', async () => {
    const { id, ready, say } = await newVideo();
    expect((await call(service, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
    for (const answer of [await ready(), await say('failed'), await ready({ attempt: 9 })])
      expect(answer).toEqual(notProcessed('deleted_asset'));
    expect((await call(service, `GET /media/${id}`, { headers: asUser('ann') })).status).toBe(404);
  });

  test('names an asset whose bytes were rejected, unless it opens a new attempt', async () => {
    const started = await openUpload(service, 'ann');
    const id = started.asset_id;
    await putBytes(started, Buffer.from('no video at all'));
    expect((await complete(service, 'ann', id)).status).toBe(400);
    for (const status of ['ready', 'failed', 'processing'])
      expect(await tell(service, 'onprem', { asset_id: id, status })).toEqual(notProcessed('refused'));
    expect((await readAsset(service, 'ann', id)).stream_status).toBe('failed');
    expect(await tell(service, 'onprem', { asset_id: id, status: 'ready', attempt: 2 })).toEqual(PROCESSED);
  });
});

describe('a report of the built-in encoder', () => {
  const own = (body: object) => {
    const secret = deriveKey(service.adapters.urlSecrets[0] as Secret, 'encoder').reveal();
    return deliver(service, 'onprem', { body, headers: signatureOf('onprem', body, { secret }) });
  };

  test('sets the playback of its renditions; the asset has fixed paths without a token', async () => {
    const { id, read } = await newVideo();
    expect(
      await own({
        asset_id: id,
        status: 'ready',
        attempt: 1,
        run: 1,
        playback: { hls: 'https://evil.example/' },
      }),
    ).toEqual(PROCESSED);
    const base = `${service.url}/playback/${id}`;
    expect((await read())['playback']).toEqual({
      hls: `${base}/hls.m3u8`,
      dash: `${base}/dash.mpd`,
      thumbnail: `${base}/thumb.jpg`,
    });
  });

  test('must name its attempt and run', async () => {
    const { id } = await newVideo();
    expect(await own({ asset_id: id, status: 'ready' })).toEqual(notProcessed('not_actionable'));
  });
});
