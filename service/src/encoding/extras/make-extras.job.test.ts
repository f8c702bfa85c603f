// Tests what the job makes, skips and retries; store, encoder and database are fakes.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import type { VideoExtra } from '../../assets/video-extras.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { removeAtOnce } from '../../lifecycle/objects/deferred-removals.fixture.ts';
import { ObjectStoreError, type ObjectStore } from '../../storage/object-store.ts';
import { createEncodingContext, createTestLog, updateOf } from '../context.fixture.ts';
import { EncodeError, type ExtraRequest } from '../encoder.ts';
import { formatIndex, INDEX_NAME } from '../packaging/run-index.ts';
import { pictureTrack, soundTracks } from '../packaging/tracks.fixture.ts';
import { createExtrasJob } from './make-extras.job.ts';

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-scratch-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

const ID = createVideo().id;
/** The sound has two segments like the picture. */
const TWO_SOUNDS = soundTracks(1, [{}]).map((sound) => ({ ...sound, segments: sound.segments.slice(0, 2) }));
const FILES = {
  [INDEX_NAME]: formatIndex({
    frameRate: { numerator: 25, denominator: 1 },
    tracks: [pictureTrack(0, { width: 640, height: 360, seconds: [4, 4] }), ...TWO_SOUNDS],
    early: [0, 1],
  }),
  ...Object.fromEntries(
    [0, 1].flatMap((id) =>
      ['init.mp4', '00001.m4s', '00002.m4s'].map((part) => [`r${id}-${part}`, `${id}${part[4]} `]),
    ),
  ),
};

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

const READY = { stream_status: 'ready', playback: { kind: 'own', attempt: 1, folder: '1-1' } } as const;

function setUp(
  more: Partial<Asset> = READY,
  onCreated: (kind: string, state: { asset: Asset }) => void = () => {},
) {
  const files = new Map(Object.entries(FILES).map(([name, text]) => [`renditions/${ID}/1-1/${name}`, text]));
  const state = { asset: createVideo(more) };
  const created: string[] = [];
  const { lines, log } = createTestLog();
  const store = createStore(files);
  const lifecycle = {
    findAssetById: async () => state.asset,
    update: updateOf(state),
    removeUnlessDeferred: removeAtOnce(store),
  };
  const encoder = {
    async createExtra(request: ExtraRequest) {
      const excerpts = request.kind === 'file' ? request.excerpts : [request.excerpt];
      const texts = await Promise.all(excerpts.map((path) => readFile(path, 'utf8')));
      created.push(`${request.kind} ${texts.join('+').trim()}`);
      onCreated(request.kind, state);
      await writeFile(request.output.replace('%d', '1'), request.kind);
    },
  };
  const run = (
    videoExtras: readonly VideoExtra[] = ['storyboard', 'preview', 'audio', 'mp4'],
    minFreeBytes = 0,
  ) => {
    const settings = { minFreeBytes, videoExtras };
    const ctx = createEncodingContext({ settings, store, encoder, lifecycle, worker: { scratchRoot }, log });
    return createExtrasJob(ctx)({
      payload: { assetId: ID, folder: '1-1' },
      signal: new AbortController().signal,
    });
  };
  const made = () =>
    [...files.keys()].map((key) => key.slice(key.lastIndexOf('/') + 1)).filter((name) => !(name in FILES));
  return { state, files, created, warnings: lines, run, made };
}
const shownExtras = ({ playback }: Asset) => playback?.kind === 'own' && playback.extras;

describe('the job', () => {
  test('makes each file of the tracks that it needs, and shows them', async () => {
    const { run, created, made, state } = setUp();
    await run();
    expect(created).toEqual([
      'storyboard 0. 01 02',
      'preview 0. 01 02',
      'file 1. 11 12',
      'file 0. 01 02 +1. 11 12',
    ]);
    expect(made()).toEqual(['storyboard-1.jpg', 'storyboard.vtt', 'preview.webp', 'audio.m4a', 'video.mp4']);
    expect(shownExtras(state.asset)).toEqual(['storyboard', 'preview', 'audio', 'mp4']);
    expect(await readdir(scratchRoot)).toEqual([]);
  });
  test('makes only the chosen files, and none again', async () => {
    const { run, created, state } = setUp();
    await run(['preview']);
    await run(['preview', 'mp4']);
    expect(created.map((line) => line.split(' ')[0])).toEqual(['preview', 'file']);
    expect(shownExtras(state.asset)).toEqual(['preview', 'mp4']);
    await run([]);
    expect(created).toHaveLength(2);
  });
  test('leaves out a file that ffmpeg cannot make', async () => {
    const { run, state, warnings } = setUp(READY, (kind) => {
      if (kind === 'preview') throw new EncodeError('encode_failed', 'no', 'the log');
    });
    await run();
    expect(shownExtras(state.asset)).toEqual(['storyboard', 'audio', 'mp4']);
    expect(warnings).toMatchObject([{ facts: { extra: 'preview', code: 'encode_failed' } }]);
    const none = setUp(READY, () => {
      throw new EncodeError('encode_failed', 'no', 'the log');
    });
    await none.run();
    expect(shownExtras(none.state.asset)).toEqual([]);
  });
  test('is retried where no engine is installed, and when the store fails', async () => {
    for (const error of [new EncodeError('encoder_missing', 'no'), new Error('disk')]) {
      const { run } = setUp(READY, () => {
        throw error;
      });
      await expect(run()).rejects.toBe(error);
      expect(await readdir(scratchRoot)).toEqual([]);
    }
  });
  test('shows the small files where the disk is too full for the others, and is retried', async () => {
    const { run, state } = setUp();
    await expect(run(['mp4', 'storyboard', 'preview'], Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(shownExtras(state.asset)).toEqual(['storyboard', 'preview']);
    await run(['mp4', 'storyboard', 'preview']);
    expect(shownExtras(state.asset)).toEqual(['mp4', 'storyboard', 'preview']);
  });
  test('decides nothing where the disk is too full for every file', async () => {
    const { run, state } = setUp();
    await expect(run(['mp4'], Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(shownExtras(state.asset)).toBeUndefined();
  });
  test('ends without an error when the video is deleted while it reads the files', async () => {
    const { run, state, made } = setUp(READY, (kind, deleted) => {
      if (kind !== 'preview') return;
      deleted.asset = createVideo({ ...READY, deleted_at: NOW, purge_at: null });
      throw new Error('ENOENT');
    });
    await run();
    expect(shownExtras(state.asset)).toBeUndefined();
    expect(made()).toEqual([]);
  });
  test('stores the files before the report arrives, and is retried until then', async () => {
    const { run, created, state } = setUp({ stream_status: 'processing', encoded_run: 1 });
    await expect(run()).rejects.toThrow('has not arrived');
    state.asset = createVideo(READY);
    await run();
    expect(created).toHaveLength(4);
    expect(shownExtras(state.asset)).toHaveLength(4);
  });
  test.each([
    ['was encoded again', { ...READY, playback: { ...READY.playback, folder: '1-2' } }],
    ['is deleted', { ...READY, deleted_at: NOW }],
  ])('does nothing for a video that %s', async (_what, more) => {
    const { run, created, made } = setUp(more);
    await run();
    expect([created, made()]).toEqual([[], []]);
  });
  test('removes all files when the video is deleted meanwhile', async () => {
    const { run, files } = setUp(READY, (_kind, state) => {
      state.asset = { ...state.asset, deleted_at: NOW };
    });
    await run();
    expect(files.size).toBe(0);
  });
});
