// Operators replay a delivery: a dry run first; lost reports are applied, deleted assets stay deleted
// (contract B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Secret } from '../../../service/src/auth/secret.ts';
import { deriveKey } from '../../../service/src/auth/signed-token.ts';
import { expectFieldRefused } from '../../support/http/envelope.ts';
import { timelineOf } from '../../support/providers/hosted.ts';
import { openUpload } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { replaysOf } from '../../support/providers/replays.ts';
import { rows } from '../../support/service/traces.ts';
import {
  deliver,
  linkVideo,
  notProcessed,
  PROCESSED,
  READY,
  signatureOf,
  tell,
} from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', CDNHOST_STREAM_HOSTNAME: 'vz-1.example' });
});
afterAll(() => service?.stop());

const { ask, replay, read, putBack, readyVideo, idsOf } = replaysOf(() => service);
const play = async (id: string, file: string) =>
  (await fetch(`${service.url}/playback/${id}/${file}`, { redirect: 'manual' })).status;

const wholeDatabase = async () =>
  rows(
    service.dataDir,
    ['assets', 'events', 'deliveries']
      .map((table) => `select md5(string_agg(row::text, ' ' order by id)) from ${table} as row`)
      .join(' union all '),
  );

describe('one delivery', () => {
  test('is a dry run by default: it shows what would change, and changes nothing', async () => {
    const { id } = await readyVideo();
    const delivery = (await idsOf(id)).at(-1);
    await putBack(id);
    const before = await wholeDatabase();
    const expected = {
      id: delivery,
      asset_id: id,
      processed: true,
      reason: 'applied',
      stream_status_before: 'processing',
      stream_status_after: 'ready',
      changes: ['stream_status', 'progress', 'playback', 'playable_at', 'ready_at'],
    };
    for (const options of [{}, { dry_run: true }])
      expect(await replay({ id: delivery, ...options })).toEqual({
        dry_run: true,
        items: [expected],
        next_cursor: null,
      });
    expect(await wholeDatabase()).toEqual(before);
  });

  test('repairs its asset, and the timeline names the operator', async () => {
    const { id, playback } = await readyVideo();
    const delivery = (await idsOf(id)).at(-1);
    await putBack(id);
    const { items, dry_run: isDryRun } = await replay({ id: delivery, dry_run: false });
    expect(isDryRun).toBe(false);
    expect(items).toMatchObject([
      { reason: 'applied', stream_status_before: 'processing', stream_status_after: 'ready' },
    ]);
    expect(await read(id)).toMatchObject({ stream_status: 'ready', progress: 100, playback });
    expect((await timelineOf(service, id)).at(-1)).toMatchObject({
      type: 'asset.ready',
      source: 'replay',
      sentence: expect.stringContaining('operator'),
    });
    expect(await idsOf(id)).toHaveLength(2);
  });

  test('that is replayed repeatedly and concurrently is applied once', async () => {
    const { id } = await readyVideo();
    const [begun, ready] = await idsOf(id);
    const before = await wholeDatabase();
    const outcomes = await Promise.all(
      [begun, begun, ready, ready].map((delivery) => replay({ id: delivery, dry_run: false })),
    );
    expect(outcomes.map(({ items: [item] }) => [item?.reason, item?.processed, item?.changes])).toEqual([
      ['late', false, []],
      ['late', false, []],
      ['repeat', true, []],
      ['repeat', true, []],
    ]);
    expect(await wholeDatabase()).toEqual(before);
  });

  test.each(['true', 'false'])('never restores a deleted asset (purged: %s)', async (purge) => {
    const { id } = await readyVideo();
    expect(
      (await call(service, `DELETE /media/${id}?purge=${purge}`, { headers: asUser('ann') })).status,
    ).toBe(200);
    for (const dry_run of [true, false]) {
      const { items } = await replay({ asset_id: id, dry_run });
      expect(items.map(({ reason, processed, changes }) => [reason, processed, changes])).toEqual([
        ['deleted_asset', false, []],
        ['deleted_asset', false, []],
      ]);
    }
    expect((await call(service, `GET /media/${id}`, { headers: asUser('ann') })).status).toBe(404);
    expect(await play(id, 'hls.m3u8')).toBe(404);
  });

  test('without an asset stays parked; an expired parked report is applied', async () => {
    const [videoId, unlinked] = [randomUUID(), randomUUID()];
    for (const guid of [videoId, unlinked])
      expect(await tell(service, 'cdnhost', READY.cdnhost(guid))).toEqual(notProcessed('parked'));
    await rows(
      service.dataDir,
      `update deliveries set received_at = received_at - interval '8 days' where provider_video_id = $1`,
      [videoId],
    );
    const { asset_id: id } = await linkVideo(service, { provider: 'cdnhost', provider_video_id: videoId });
    expect((await read(id)).stream_status).toBe('pending_upload');
    expect((await replay({ provider_video_id: unlinked, dry_run: false })).items).toMatchObject([
      { asset_id: null, processed: false, reason: 'parked', stream_status_after: null, changes: [] },
    ]);
    expect((await replay({ provider_video_id: videoId, dry_run: false })).items).toMatchObject([
      { asset_id: id, processed: true, reason: 'applied', stream_status_after: 'ready' },
    ]);
    expect(await read(id)).toMatchObject({
      stream_status: 'ready',
      playback: { hls: `https://vz-1.example/${videoId}/playlist.m3u8` },
    });
  });
});

describe('a report of the built-in encoder', () => {
  const imitation = (id: string) =>
    JSON.stringify({ asset_id: id, status: 'ready', attempt: 1, run: 1, progress: 100 });
  const own = () => deriveKey(service.adapters.urlSecrets[0] as Secret, 'encoder').reveal();

  test('restores the playback of its renditions when it is replayed', async () => {
    const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
    expect(
      await deliver(service, 'onprem', {
        body: imitation(id),
        headers: signatureOf('onprem', imitation(id), { secret: own() }),
      }),
    ).toEqual(PROCESSED);
    const before = await read(id);
    await putBack(id);
    expect((await read(id))['playback']).toBeNull();
    await replay({ asset_id: id, dry_run: false });
    expect((await read(id))['playback']).toEqual(before['playback']);
    expect(before['playback']).toMatchObject({ hls: `${service.url}/playback/${id}/hls.m3u8` });
  });

  test('that is forged sets no playback, neither at first nor when it is replayed', async () => {
    const { asset_id: id } = await openUpload(service, 'ann', { visibility: 'public' });
    expect(await tell(service, 'onprem', imitation(id))).toEqual(PROCESSED);
    await putBack(id);
    const { items } = await replay({ asset_id: id, dry_run: false });
    expect(items).toMatchObject([{ reason: 'applied', stream_status_after: 'ready' }]);
    expect(await read(id)).toMatchObject({ stream_status: 'ready', playback: null });
  });
});

test.each([
  ['id', {}],
  ['id', { dry_run: false }],
  ['id', { assetid: randomUUID(), dry_run: false }],
  ['id', { limit: 5 }],
  ['id', { id: 7 }],
  ['asset_id', { asset_id: 'x' }],
  ['asset_id', { asset_id: null }],
  ['provider', { provider: 'nobody' }],
  ['created_after', { created_after: 'yesterday' }],
  ['created_before', { created_before: 3 }],
  ['processed', { processed: 'true' }],
  ['reason', { reason: 'a\0' }],
  ['limit', { provider: 'onprem', limit: 0 }],
  ['limit', { provider: 'onprem', limit: 1001 }],
  ['limit', { provider: 'onprem', limit: '5' }],
  ['cursor', { provider: 'onprem', cursor: 'x' }],
  ['dry_run', { provider: 'onprem', dry_run: 'false' }],
  ['dry_run', { provider: 'onprem', dry_run: null }],
])('an invalid request is rejected, and the field is named: %s, %j', async (field, options) => {
  const before = await wholeDatabase();
  expectFieldRefused(await ask(options), field);
  expect(await wholeDatabase()).toEqual(before);
});
