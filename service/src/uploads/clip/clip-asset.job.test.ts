// Tests how the job of a clip ends: stored, failed, over, or to be run again; ffmpeg is a fake.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { EncodeError } from '../../encoding/encoder.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { badRequest, payloadTooLarge, unavailable } from '../../platform/http/errors.ts';
import { openScratchReservations } from '../../platform/process/scratch-reservations.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { createUploadsWorld, MP4 } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { clipAssetJob } from './clip-asset.job.ts';

const CLIP_OF = { id: '01900000-0000-7000-8000-00000000000a', start_ms: 1000, end_ms: 3000 };
const CLIP = createVideo({ clip_of: CLIP_OF });
const SOURCE = createVideo({ id: CLIP_OF.id, uploaded_at: NOW, duration_ms: 9000, size_bytes: 1000 });

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-clip-job-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

const reservationsOf = (bytes: number) =>
  openScratchReservations({
    minFreeBytes: 0,
    freeBytes: async () => bytes,
    deleteAbandoned: async () => undefined,
  });

type Cut = UploadsContext['worker']['encoder']['cut'];

const writeCut: Cut = async ({ workFolder }) => {
  const path = join(workFolder, 'cut.mp4');
  await writeFile(path, MP4);
  return { path, droppedSubtitles: [] };
};
const failing =
  (error: Error): Cut =>
  () =>
    Promise.reject(error);

type ClipCase = {
  readonly asset?: Partial<Asset>;
  readonly source?: Partial<Asset>;
  readonly claimed?: object | (() => object) | undefined;
  readonly uncount?: () => undefined;
  readonly current?: object | undefined;
  readonly cut?: Cut;
  readonly original?: { readonly path: string } | undefined;
  readonly put?: UploadsContext['store']['put'];
  readonly freeBytes?: number;
  /** Whether the timeline has the wait of an earlier run. */
  readonly hasToldWait?: boolean;
};

function createClip({ asset, source, cut = writeCut, freeBytes = 2 ** 40, ...given }: ClipCase = {}) {
  const world = createUploadsWorld(
    { ...CLIP, ...asset },
    {
      'claim clip': 'claimed' in given ? given.claimed : { runs: 1, previous_upload_id: null },
      'uncount clip run': given.uncount,
      'find space wait': given.hasToldWait ? { id: CLIP.id } : undefined,
      'current clip': 'current' in given ? given.current : { is_source_deleted: false },
    },
  );
  const { lifecycle, store, worker } = world.ctx;
  const ctx: UploadsContext = {
    ...world.ctx,
    store: { ...store, put: given.put ?? store.put },
    lifecycle: {
      ...lifecycle,
      findAssetById: (id) =>
        id === SOURCE.id ? Promise.resolve({ ...SOURCE, ...source }) : lifecycle.findAssetById(id),
    },
    worker: {
      ...worker,
      encoder: { cut },
      findLocalFile: async () => ('original' in given ? given.original : { path: '/original' }),
      scratchRoot,
      scratchReservations: reservationsOf(freeBytes),
    },
  };
  const start = (signal = new AbortController().signal) =>
    clipAssetJob(ctx)({ payload: { assetId: CLIP.id, attempt: 1 }, signal });
  return { ...world, start };
}

test('the cut is stored and completed, and leaves no scratch files', async () => {
  const { start, asset, stored } = createClip();
  await start();
  expect(asset()).toMatchObject({ stream_status: 'processing', size_bytes: MP4.length });
  expect([...stored.values()]).toEqual([MP4.toString()]);
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('bytes that an earlier run stored are completed without another cut', async () => {
  const { start, asset, stored } = createClip({
    asset: { uploaded_at: NOW, original_upload: CLIP.id, size_bytes: MP4.length },
    claimed: { runs: 99, previous_upload_id: null },
    cut: failing(new Error('cut again')),
  });
  stored.set(uploadKey(CLIP.id, CLIP.id), MP4.toString());
  await start();
  expect(asset().stream_status).toBe('processing');
});

test.each<[string, ClipCase]>([
  ['before it starts', { claimed: undefined }],
  ['during the cut', { current: undefined, cut: failing(new Error('the file is gone')) }],
])('a clip that is over %s changes nothing', async (_, given) => {
  const { start, decisions, stored } = createClip(given);
  await start();
  expect(decisions).toEqual([]);
  expect(stored.size).toBe(0);
});

test.each<[string, ClipCase]>([
  ['before the cut', { source: { deleted_at: NOW } }],
  ['before its bytes are read', { original: undefined }],
  ['during the cut', { current: { is_source_deleted: true }, cut: failing(new Error('no such object')) }],
])('a source that is deleted %s fails the clip for good', async (_, given) => {
  const { start, asset } = createClip(given);
  await start();
  expect(asset().failure).toMatchObject({ code: 'clip_source_deleted', retryable: false });
});

test.each<[string, ClipCase, object]>([
  [
    'crashed workers',
    { claimed: { runs: 11, previous_upload_id: null } },
    { code: 'clip_failed', retryable: true },
  ],
  ['a slow cut', { cut: failing(new EncodeError('timed_out', 'slow')) }, { code: 'timed_out' }],
  ['a broken source', { cut: failing(new EncodeError('truncated', 'cut')) }, { retryable: false }],
  [
    'too many bytes',
    { put: () => Promise.reject(payloadTooLarge('too large', {})) },
    { code: 'clip_too_large' },
  ],
  [
    'a quota',
    { put: () => Promise.reject(badRequest('The quota is exceeded', { reason: 'quota_exceeded' })) },
    { code: 'clip_too_large', message: 'The quota is exceeded' },
  ],
])('%s fail the clip', async (_, given, failure) => {
  const { start, asset, stored } = createClip(given);
  await start();
  expect(asset().failure).toMatchObject(failure);
  expect(stored.size).toBe(0);
});

test('a store that is down lets the job run again', async () => {
  const { start, asset } = createClip({ put: () => Promise.reject(unavailable('the store is down')) });
  await expect(start()).rejects.toThrow('the store is down');
  expect(asset().failure).toBeNull();
  expect(await readdir(scratchRoot)).toEqual([]);
});

test('an outage of the store uses up no run', async () => {
  let runs = 0;
  const counted: ClipCase = {
    claimed: () => {
      runs += 1;
      return { runs, previous_upload_id: null };
    },
    uncount: () => {
      runs -= 1;
    },
  };
  const down = createClip({ ...counted, put: () => Promise.reject(unavailable('the store is down')) });
  for (let outage = 0; outage < 12; outage += 1) await expect(down.start()).rejects.toThrow();
  const { start, asset } = createClip(counted);
  await start();
  expect(asset()).toMatchObject({ stream_status: 'processing', failure: null });
});

test('a stopping worker leaves the clip to the queue', async () => {
  const stopping = new AbortController();
  const { start, decisions } = createClip({
    cut: ({ signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        stopping.abort();
      }),
  });
  await expect(start(stopping.signal)).rejects.toThrow('the cut was interrupted');
  expect(decisions).toEqual([]);
});

test('a clip waits while the disk has too little space, and the timeline says so once', async () => {
  const again = { name: 'clip-asset', startAfter: new Date(NOW.getTime() + 30_000) };
  const first = createClip({ freeBytes: 1000 });
  await first.start();
  expect(first.sent).toMatchObject([again]);
  expect(first.decisions.flatMap(({ events }) => events)).toMatchObject([
    { type: 'asset.checked', data: { reason: 'scratch_disk_full', free_bytes: 1000 } },
  ]);
  const next = createClip({ freeBytes: 1000, hasToldWait: true });
  await next.start();
  expect(next.sent).toMatchObject([again]);
  expect(next.decisions).toEqual([]);
});
