// A poster time changes during the encode, before the report, after a crash of the worker, and before the
// trash.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Adapters } from '../../../service/src/adapters.ts';
import {
  choosePoster,
  colourfulClip,
  postersDone,
  thumbnailOf,
  thumbnailTurns,
} from '../../support/playback/posters.ts';
import { complete, ingest, openUpload, putBytes, settled } from '../../support/media.ts';
import { asUser, call, eventually, startTestService, type TestService } from '../../support/service.ts';

/** Passes while it is open; counts who came. */
function gate() {
  let barrier = Promise.withResolvers<void>();
  barrier.resolve();
  const state = {
    came: 0,
    close: () => {
      barrier = Promise.withResolvers<void>();
    },
    open: () => barrier.resolve(),
    pass: async () => {
      state.came += 1;
      await barrier.promise;
    },
  };
  return state;
}

const encoding = gate();
const reporting = gate();
const posters = { made: 0, toFail: 0 };
let service: TestService;
let film: Buffer;

/** A service whose encoder and reports can be held, and whose posters can fail when they are made. */
const wrapAdapters = (adapters: Adapters): Adapters => ({
  ...adapters,
  encoder: {
    ...adapters.encoder,
    async startEncode(order) {
      await encoding.pass();
      return adapters.encoder.startEncode(order);
    },
    async createPoster(order) {
      await adapters.encoder.createPoster(order);
      posters.made += 1;
      if (posters.toFail-- > 0) throw new Error('the worker died');
    },
  },
  callback: {
    async deliver(body, signal) {
      if (body.includes('"status":"ready"')) await reporting.pass();
      return adapters.callback.deliver(body, signal);
    },
  },
});

beforeAll(async () => {
  film = await readFile(await colourfulClip());
  service = await startTestService({}, { wrapAdapters });
});
afterAll(() => service.stop());
beforeEach(() => {
  for (const held of [encoding, reporting]) {
    held.open();
    held.came = 0;
  }
  Object.assign(posters, { made: 0, toFail: 0 });
});

/** Its id, once it has come to where it is held. */
async function underWay(held: ReturnType<typeof gate>, poster: number | null): Promise<string> {
  held.close();
  const started = await openUpload(service, 'ann');
  if (poster !== null) await choosePoster(service, started.asset_id, poster);
  await putBytes(started, film);
  await complete(service, 'ann', started.asset_id);
  await eventually(
    async () => held.came,
    (came) => came > 0,
  );
  return started.asset_id;
}

test.each([
  [null, 500, 'red'],
  [500, 4500, 'blue'],
  [500, null, 'green'],
] as const)(
  'poster_time_ms %j, then %j during the encode: the thumbnail becomes %s',
  async (before, timeMs, colour) => {
    const id = await underWay(encoding, before);
    await choosePoster(service, id, timeMs);
    encoding.open();
    await settled(service, 'ann', id);
    expect(await postersDone(service, id)).toMatchObject({ stream_status: 'ready', poster_time_ms: timeMs });
    expect((await thumbnailOf(service, id)).colour).toBe(colour);
  },
);

test('a poster time that is set back during the encode renders no second thumbnail', async () => {
  const id = await underWay(encoding, 500);
  for (const timeMs of [4500, 500]) await choosePoster(service, id, timeMs);
  encoding.open();
  await settled(service, 'ann', id);
  await postersDone(service, id);
  expect([(await thumbnailOf(service, id)).colour, posters.made]).toEqual(['red', 0]);
});

test.each([
  [null, 500, 'red'],
  [500, 4500, 'blue'],
  [500, null, 'green'],
] as const)(
  'poster_time_ms %j, then %j before the report arrives: the thumbnail becomes %s',
  async (before, timeMs, colour) => {
    const id = await underWay(reporting, before);
    expect((await choosePoster(service, id, timeMs)).body.data).toMatchObject({
      stream_status: 'processing',
      poster_time_ms: timeMs,
    });
    expect(await service.adapters.jobs.hasOpenJob('make-poster', { assetId: id })).toBe(true);
    reporting.open();
    await settled(service, 'ann', id);
    await postersDone(service, id);
    expect((await thumbnailOf(service, id)).colour).toBe(colour);
  },
);

test('a worker that dies while rendering a poster keeps the old thumbnail until a retry', async () => {
  const { id } = await ingest(service, 'ann', { file: await colourfulClip() });
  posters.toFail = Infinity;
  await choosePoster(service, id, 4500);
  await eventually(
    async () => posters.made,
    (made) => made > 0,
  );
  expect((await thumbnailOf(service, id)).colour).toBe('green');
  posters.toFail = 0;
  await thumbnailTurns(service, id, 'blue');
});

test('a video that is in the trash gets its poster after it is restored', async () => {
  const { id } = await ingest(service, 'ann', { file: await colourfulClip() });
  posters.toFail = 1;
  await choosePoster(service, id, 500);
  expect((await call(service, `DELETE /media/${id}?trash=true`, { headers: asUser('ann') })).status).toBe(
    200,
  );
  await postersDone(service, id);
  expect((await call(service, `POST /media/${id}/restore`, { headers: asUser('ann') })).status).toBe(200);
  await thumbnailTurns(service, id, 'red');
});
