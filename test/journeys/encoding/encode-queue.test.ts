// Deletes and cancels free the encoder at once, and operators see running and waiting encodes.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { waitForEngine, waitForEngineEnd } from '../../support/encoding/engines.ts';
import { makeClip, pacedEngine } from '../../support/clips/clips.ts';
import { type AssetJson, complete, openUpload, putBytes, readAsset } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';
import { filesNaming } from '../../support/service/traces.ts';

type Encode = Record<string, unknown> & {
  asset_id: string;
  owner_user_id: string;
  state: string;
  worker: string | null;
};
type Queue = { running: number; waiting: number; items: Encode[]; next_cursor: string | null };

let service: TestService;
let film: Buffer;
beforeAll(async () => {
  service = await startTestService({ FFMPEG_PATH: await pacedEngine(), ENCODE_CONCURRENCY: '1' });
  film = await readFile(await makeClip({ seconds: 60 }));
});
afterAll(() => service.stop());

async function uploaded(user: string): Promise<string> {
  const started = await openUpload(service, user);
  await putBytes(started, film);
  expect((await complete(service, user, started.asset_id)).status).toBe(200);
  return started.asset_id;
}
const encoding = async (user: string): Promise<string> => {
  const id = await uploaded(user);
  await eventually(
    () => readAsset(service, user, id),
    ({ progress }) => progress > 0,
  );
  return id;
};
const listed = async (query = ''): Promise<Queue> =>
  (await call<Queue>(service, `GET /admin/encodes${query}`, { headers: asOperator })).body.data;
const cancel = (id: string, headers: Record<string, string> = asOperator) =>
  call(service, `POST /admin/encodes/${id}/cancel`, { headers });
const remove = (user: string, id: string, query = '') =>
  call(service, `DELETE /media/${id}${query}`, { headers: asUser(user) });
const removeAll = async (): Promise<void> => {
  const { items } = await listed();
  for (const { owner_user_id: owner, asset_id: id } of items.toReversed()) await remove(owner, id);
  await eventually(listed, ({ running, waiting }) => running + waiting === 0);
};

/** The engine takes a minute for the film: that of this asset is stopped long before. */
const engineIsStopped = (id: string) => waitForEngineEnd(id, { withinMs: 30_000 });

describe('an encode of a deleted asset', () => {
  test.each([
    ['deleted', ''],
    ['moved to the trash', '?trash=true'],
  ])('is stopped once its asset is %s, and the next one starts', async (_, query) => {
    const id = await encoding('ann');
    const next = await uploaded('ann');
    await waitForEngine(id);
    expect((await remove('ann', id, query)).status).toBe(200);
    await engineIsStopped(id);
    await eventually(listed, ({ items }) => items[0]?.asset_id === next && items[0]?.state === 'running');
    await eventually(
      () => filesNaming(`${service.dataDir}/objects`, `renditions/${id}/`),
      (files) => files.length === 0,
    );
    await remove('ann', next);
    await eventually(listed, ({ running, waiting }) => running + waiting === 0);
  });

  test('runs after all when the asset is restored', async () => {
    const id = await encoding('ann');
    await remove('ann', id, '?trash=true');
    await engineIsStopped(id);
    expect((await call(service, `POST /media/${id}/restore`, { headers: asUser('ann') })).status).toBe(200);
    await waitForEngine(id);
    await remove('ann', id);
  });
});

test('ENCODE_CONCURRENCY sets how many videos are encoded at the same time', async () => {
  const wide = await startTestService({ FFMPEG_PATH: await pacedEngine(), ENCODE_CONCURRENCY: '2' });
  onTestFinished(wide.stop);
  for (const user of ['ann', 'ann', 'ann']) {
    const started = await openUpload(wide, user);
    await putBytes(started, film);
    await complete(wide, user, started.asset_id);
  }
  const queueOf = async () =>
    (await call<Queue>(wide, 'GET /admin/encodes', { headers: asOperator })).body.data;
  await eventually(queueOf, ({ running, waiting }) => running === 2 && waiting === 1);
});

describe('an operator', () => {
  test('sees running and waiting encodes in execution order', async () => {
    onTestFinished(removeAll);
    const running = await encoding('ann');
    const [second, third] = [await uploaded('ann'), await uploaded('ann')];
    // One owner holds all slots but one, so that another one starts at once.
    const [first, next] = [await uploaded('bob'), await uploaded('bob')];
    const queue = await eventually(listed, ({ running: begun }) => begun === 2);
    expect(queue).toMatchObject({ running: 2, waiting: 3 });
    expect(queue.items.map(({ asset_id, state, position }) => [asset_id, state, position])).toEqual([
      [running, 'running', null],
      [first, 'running', null],
      [second, 'waiting', 1],
      [next, 'waiting', 2],
      [third, 'waiting', 3],
    ]);
    expect(queue.items[0]).toMatchObject({
      owner_user_id: 'ann',
      attempt: 1,
      // On a slow machine, the rest has begun.
      phase: expect.stringMatching(/^(?:first|rest)$/),
      progress: expect.any(Number),
      worker: expect.stringMatching(new RegExp(`:${process.pid}$`)),
      started_at: expect.any(String),
    });
    expect(queue.items[3]).toMatchObject({ owner_user_id: 'bob', worker: null, started_at: null });
    expect((await listed('?owner_user_id=bob')).items.map(({ position }) => position)).toEqual([null, 2]);
    const pages = [await listed('?limit=2')];
    while (pages.at(-1)?.next_cursor)
      pages.push(await listed(`?limit=2&cursor=${pages.at(-1)?.next_cursor}`));
    expect(pages.map(({ items }) => items.map(({ asset_id: id }) => id))).toEqual([
      [running, first],
      [second, next],
      [third],
    ]);
  });

  test('cancels a running encode: it stops, and its owner can retry', async () => {
    const id = await encoding('ann');
    const { status, body } = await cancel(id);
    expect([status, body.data]).toEqual([200, { asset_id: id, cancelled: true }]);
    await engineIsStopped(id);
    expect(await readAsset(service, 'ann', id)).toMatchObject({
      stream_status: 'failed',
      failure: { code: 'cancelled', retryable: true },
    });
    expect(await lastSentence(id)).toBe('An operator cancelled the encoding.');
    expect((await cancel(id)).status).toBe(200);

    const retried = await call<AssetJson>(service, `POST /media/${id}/retry?expand=asset`, {
      headers: asUser('ann'),
    });
    expect(retried.body.data).toMatchObject({ asset: { stream_status: 'processing', failure: null } });
    await waitForEngine(id);
    expect((await cancel(id)).status).toBe(200);
    expect(await lastSentence(id)).toBe('An operator cancelled the encoding (attempt 2).');
  });

  test('cancels a waiting encode, which never starts', async () => {
    const running = await encoding('ann');
    const waiting = await uploaded('ann');
    expect((await cancel(waiting)).status).toBe(200);
    expect((await listed()).items.map(({ asset_id }) => asset_id)).toEqual([running]);
    await remove('ann', running);
    const last = await encoding('ann');
    expect(await readAsset(service, 'ann', waiting)).toMatchObject({ failure: { code: 'cancelled' } });
    await remove('ann', last);
  });

  test('cannot cancel an asset that is not being encoded', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const refused = await cancel(id);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      { error_code: 'CONFLICT', details: { reason: 'not_encoding', stream_status: 'pending_upload' } },
    ]);
    expect((await cancel('00000000-0000-7000-8000-000000000000')).status).toBe(404);
    expect((await cancel('no-uuid')).status).toBe(404);
  });

  test('is the only caller that may list and cancel', async () => {
    const { asset_id: id } = await openUpload(service, 'ann');
    for (const headers of [{}, asUser('ann'), asService]) {
      expect((await cancel(id, headers)).status).toBe(401);
      expect((await call(service, 'GET /admin/encodes', { headers })).status).toBe(401);
    }
  });
});

const lastSentence = async (id: string) =>
  (
    await call<{ items: { sentence: string }[] }>(service, `GET /media/${id}/timeline`, {
      headers: asUser('ann'),
    })
  ).body.data.items.at(-1)?.sentence;
