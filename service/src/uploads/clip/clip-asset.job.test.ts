// Tests how the job of a clip ends: stored, failed, over, or to be run again; ffmpeg and the store are fakes.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Asset, Failure } from '../../assets/asset.ts';
import { EncodeError } from '../../encoding/encoder.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { badRequest, payloadTooLarge, unavailable } from '../../platform/http/errors.ts';
import { openScratchReservations } from '../../platform/process/scratch-reservations.ts';
import { clipAssetJob, type ClipJobNeeds } from './clip-asset.job.ts';

const CLIP_OF = { id: '01900000-0000-7000-8000-00000000000a', start_ms: 1000, end_ms: 3000 };
const CLIP = createVideo({ clip_of: CLIP_OF });
const SOURCE = createVideo({ id: CLIP_OF.id, uploaded_at: NOW, duration_ms: 9000, size_bytes: 1000 });
const BYTES = 'the bytes of the cut';

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-clip-job-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

type Ends = {
  readonly stored: string[];
  readonly failures: Failure[];
  readonly completed: string[];
  readonly postponed: (Date | undefined)[];
};
const reservationsOf = (bytes: number) =>
  openScratchReservations({
    minFreeBytes: 0,
    freeBytes: async () => bytes,
    deleteAbandoned: async () => undefined,
  });

type World = Partial<ClipJobNeeds> & { readonly source?: Asset | undefined; readonly runs?: number };

function createWorld({ source = SOURCE, runs = 1, ...overrides }: World = {}) {
  const ends: Ends = { stored: [], failures: [], completed: [], postponed: [] };
  const run = { asset: CLIP, clipOf: CLIP_OF, uploadId: '01900000-0000-4000-8000-00000000000b', runs };
  const needs: ClipJobNeeds = {
    beginClip: async () => run,
    findAwaitingClip: async () => ({ ...CLIP, clip_of: CLIP_OF }),
    findClipState: async () => 'current',
    failClip: async (_run, failure) => void ends.failures.push(failure),
    completeClip: async ({ id }) => void ends.completed.push(id),
    findAssetById: async (id) => (id === CLIP.id ? CLIP : source),
    findLocalFile: async () => ({ path: '/original' }),
    storeOriginal: async (_asset, { bytes, protocol }) => {
      expect(protocol).toBe('clip');
      for await (const chunk of bytes) ends.stored.push(Buffer.from(chunk).toString());
      return { ...CLIP, uploaded_at: NOW };
    },
    encoder: {
      cut: async ({ workFolder }) => {
        const path = join(workFolder, 'cut.mp4');
        await writeFile(path, BYTES);
        return { path, droppedSubtitles: [] };
      },
    },
    db: { transaction: async (work) => work({} as never) },
    jobs: { sendFor: async (_tx, _owner, { startAfter }) => void ends.postponed.push(startAfter) },
    store: {},
    scratchRoot,
    scratchReservations: reservationsOf(2 ** 40),
    maxUploadBytes: 2 ** 30,
    now: () => NOW,
    log: { warn: () => {} },
    ...overrides,
  };
  const start = (signal = new AbortController().signal) =>
    clipAssetJob(needs)({ payload: { assetId: CLIP.id, attempt: 1 }, signal });
  return { start, ends };
}

const NOTHING: Ends = { stored: [], failures: [], completed: [], postponed: [] };
const failing = (error: Error): Pick<ClipJobNeeds, 'encoder'> => ({
  encoder: {
    cut: async () => {
      throw error;
    },
  },
});
type ClipState = Awaited<ReturnType<ClipJobNeeds['findClipState']>>;
const inState = (state: ClipState): Pick<ClipJobNeeds, 'findClipState'> => ({
  findClipState: async () => state,
});

test('the cut is stored and completed, and leaves no scratch files', async () => {
  const { start, ends } = createWorld();
  await start();
  expect(ends).toEqual({ ...NOTHING, stored: [BYTES], completed: [CLIP.id] });
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('bytes that an earlier run stored are completed without another cut', async () => {
  const asset = { ...CLIP, uploaded_at: NOW };
  const run = { asset, clipOf: CLIP_OF, uploadId: 'u', runs: 99 };
  const { start, ends } = createWorld({ beginClip: async () => run, ...failing(new Error('cut again')) });
  await start();
  expect(ends).toEqual({ ...NOTHING, completed: [CLIP.id] });
});

test('a clip that is over changes nothing', async () => {
  for (const overrides of [
    { beginClip: async () => undefined },
    { ...inState('over'), ...failing(new Error('the file is gone')) },
  ]) {
    const { start, ends } = createWorld(overrides);
    await start();
    expect(ends).toEqual(NOTHING);
  }
});

test.each<[string, World]>([
  ['before the cut', { source: { ...SOURCE, deleted_at: NOW } }],
  ['before its bytes are read', { findLocalFile: async () => undefined }],
  ['during the cut', { ...inState('source_deleted'), ...failing(new Error('no such object')) }],
])('a source that is deleted %s fails the clip for good', async (_, world) => {
  const { start, ends } = createWorld(world);
  await start();
  expect(ends.failures).toMatchObject([{ code: 'clip_source_deleted', retryable: false }]);
});

test.each<[string, World, object]>([
  ['crashed workers', { runs: 11 }, { code: 'clip_failed', retryable: true }],
  ['a slow cut', failing(new EncodeError('timed_out', 'slow')), { code: 'timed_out', retryable: true }],
  ['a broken source', failing(new EncodeError('truncated', 'cut')), { code: 'truncated', retryable: false }],
  [
    'too many bytes',
    {
      storeOriginal: async () => {
        throw payloadTooLarge('too large', {});
      },
    },
    { code: 'clip_too_large' },
  ],
  [
    'a quota',
    {
      storeOriginal: async () => {
        throw badRequest('The quota is exceeded', { reason: 'quota_exceeded' });
      },
    },
    { code: 'clip_too_large', message: 'The quota is exceeded' },
  ],
])('%s fail the clip', async (_, world, failure) => {
  const { start, ends } = createWorld(world);
  await start();
  expect(ends).toEqual({ ...NOTHING, failures: [expect.objectContaining(failure)] });
});

test('a store that is down lets the job run again', async () => {
  const { start, ends } = createWorld({
    storeOriginal: async () => {
      throw unavailable('the store is down');
    },
  });
  await expect(start()).rejects.toThrow('the store is down');
  expect(ends).toEqual(NOTHING);
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('a stopping worker leaves the clip to the queue', async () => {
  const stopping = new AbortController();
  const { start, ends } = createWorld({
    encoder: {
      cut: ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          stopping.abort();
        }),
    },
  });
  await expect(start(stopping.signal)).rejects.toThrow('the cut was interrupted');
  expect(ends).toEqual(NOTHING);
});

test('a clip waits while the disk has too little space', async () => {
  const { start, ends } = createWorld({ scratchReservations: reservationsOf(1000) });
  await start();
  expect(ends).toEqual({ ...NOTHING, postponed: [new Date(NOW.getTime() + 30_000)] });
});
