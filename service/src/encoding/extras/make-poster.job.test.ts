// Tests that the job ends when the requested poster is published; store, encoder and database are fakes.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { removeAtOnce } from '../../lifecycle/objects/deferred-removals.fixture.ts';
import { decidePoster } from '../../lifecycle/decisions/decide-commands.ts';
import type { ObjectKey } from '../../storage/object-key.ts';
import { ObjectStoreError, type ObjectStore } from '../../storage/object-store.ts';
import { createEncodingContext } from '../context.fixture.ts';
import type { PosterRequest } from '../encoder.ts';
import { formatIndex, INDEX_NAME } from '../packaging/run-index.ts';
import { pictureTrack } from '../packaging/tracks.fixture.ts';
import { createPosterJob } from './make-poster.job.ts';

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-scratch-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

const ID = createVideo().id;
const FILES = {
  [INDEX_NAME]: formatIndex({
    frameRate: { numerator: 25, denominator: 1 },
    tracks: [pictureTrack(0, { width: 640, height: 360, seconds: [4, 4] })],
    early: [0],
  }),
  'r0-init.mp4': 'init ',
  'r0-00001.m4s': 'one',
  'r0-00002.m4s': 'two',
};

/** An object store that keeps text in a map. */
const createStore = (files: Map<string, string>) =>
  ({
    size: async (key) => files.get(key)?.length,
    stream: (key) => Readable.from([Buffer.from(files.get(key) ?? '')]),
    async putFile(key, path) {
      if (files.has(key)) throw new ObjectStoreError('exists');
      files.set(key, await readFile(path, 'utf8'));
    },
    async removeAll(prefix) {
      for (const key of files.keys()) if (key.startsWith(prefix)) files.delete(key);
      return 0;
    },
  }) as Partial<ObjectStore> as ObjectStore;

/** A ready video with its store and the job. `onCreated` is called after each created poster. */
function setUp(
  more: Partial<Asset>,
  onCreated: (state: { asset: Asset; files: Map<string, string> }) => void = () => {},
) {
  const files = new Map<string, string>(
    Object.entries(FILES).map(([name, text]) => [`renditions/${ID}/1-1/${name}`, text]),
  );
  const created: string[] = [];
  const state = {
    asset: createVideo({
      stream_status: 'ready',
      playback: { kind: 'own', attempt: 1, folder: '1-1' },
      ...more,
    }),
    files,
  };
  const createPoster = async ({ excerpt, output, timeMs }: PosterRequest) => {
    created.push(`${timeMs} of ${await readFile(excerpt, 'utf8')}`);
    await writeFile(output, `poster of ${timeMs}`);
    onCreated(state);
  };
  const store = createStore(files);
  const ctx = createEncodingContext({
    store,
    encoder: { createPoster },
    worker: { scratchRoot },
    lifecycle: {
      findAssetById: async () => state.asset,
      removeUnlessDeferred: removeAtOnce(store),
      async showPoster(asset) {
        state.asset = { ...state.asset, ...decidePoster(state.asset, asset)?.set };
        return state.asset;
      },
    },
  });
  const run = (signal = new AbortController().signal) =>
    createPosterJob(ctx)({ payload: { assetId: ID }, signal });
  return {
    state,
    files,
    created,
    run,
    poster: (timeMs: number) => files.get(`renditions/${ID}/1-1/poster-${timeMs}.jpg` as ObjectKey),
  };
}
const publishedPoster = (asset: Asset) =>
  asset.playback?.kind === 'own' ? asset.playback.posterTimeMs : 'no own renditions';

describe('the poster job', () => {
  test('extracts the frame from its segment, stores it and publishes it once', async () => {
    const { run, state, created, poster } = setUp({ poster_time_ms: 4000 });
    await run();
    await run();
    expect([created, poster(4000), publishedPoster(state.asset)]).toEqual([
      ['4000 of init two'],
      'poster of 4000',
      4000,
    ]);
    expect(await readdir(scratchRoot)).toEqual([]);
  });
  test('publishes a poster that a killed worker has stored', async () => {
    const { run, state, created, files } = setUp({ poster_time_ms: 4000 });
    files.set(`renditions/${ID}/1-1/poster-4000.jpg`, 'earlier');
    await run();
    expect([created, publishedPoster(state.asset)]).toEqual([[], 4000]);
  });
  test('reuses a poster that another process stored meanwhile', async () => {
    const { run, state } = setUp({ poster_time_ms: 4000 }, ({ files }) =>
      files.set(`renditions/${ID}/1-1/poster-4000.jpg`, 'of another'),
    );
    await run();
    expect(publishedPoster(state.asset)).toBe(4000);
  });
  test('repeats when another time was requested meanwhile', async () => {
    const { run, state, created } = setUp({ poster_time_ms: 100 }, (now) => {
      now.asset = { ...now.asset, poster_time_ms: 200 };
    });
    await run();
    expect([created.length, publishedPoster(state.asset)]).toEqual([2, 200]);
  });
  test('publishes the default thumbnail after the request was withdrawn', async () => {
    const { run, state } = setUp({
      poster_time_ms: null,
      playback: { kind: 'own', attempt: 1, folder: '1-1', posterTimeMs: 7 },
    });
    await run();
    expect(publishedPoster(state.asset)).toBeUndefined();
  });
  test('is retried while the report of the encoder has not arrived', async () => {
    await expect(
      setUp({
        poster_time_ms: 1,
        playback: null,
        stream_status: 'processing',
        encoded_run: 1,
      }).run(),
    ).rejects.toThrow('has not arrived');
  });
  test.each([
    ['is only being encoded', { playback: null, stream_status: 'processing', encode_run: 1 }],
    ['is in the trash', { deleted_at: new Date(), purge_at: new Date() }],
    [
      'is hosted by a provider',
      { playback: { kind: 'urls', attempt: 1, hls: 'https://a.example/', dash: null, thumbnail: null } },
    ],
  ] as const)('does nothing when the video %s', async (_what, more) => {
    const { run, created, files } = setUp({ poster_time_ms: 1, ...more });
    await run();
    expect([created, files.size]).toEqual([[], Object.keys(FILES).length]);
  });
  test('deletes all files of a deleted video', async () => {
    const { run, files } = setUp({ poster_time_ms: 1, deleted_at: new Date() });
    await run();
    expect(files.size).toBe(0);
  });
  test('stops when it is aborted', async () => {
    const reason = new Error('stopping');
    await expect(setUp({ poster_time_ms: 1 }).run(AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
