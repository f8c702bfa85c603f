// Tests which ends of a run count as a crash, and which files stay; encoder, store and database are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AssetWrite } from '../../lifecycle/decisions/change.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import { contextOf } from '../../platform/values/context.fixture.ts';
import { unavailable } from '../../platform/http/errors.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import { databaseOf } from '../../platform/postgres/database.fixture.ts';
import { ObjectStoreError } from '../../storage/object-store.ts';
import { createEncodingContext, updateOf } from '../context.fixture.ts';
import type { EncodeRequest, Encoding, PlayablePart } from '../encoder.ts';
import type { EncoderReport } from '../encoder-report.ts';
import { encodeAssetJob } from './encode-asset.job.ts';

const ID = '01900000-0000-7000-8000-000000000001';
const REMOVED = `removed renditions/${ID}/1-2/`;

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-encode-'));
});
afterAll(() => rm(scratchRoot, { recursive: true }));

const PART: PlayablePart = {
  container: 'mov',
  video: { codec: 'h264', fps: 25, hdr: false, bit_depth: 8 },
  audio: [],
  chapters: [],
  width: 640,
  height: 360,
  durationMs: 9000,
  files: [],
  index: { frameRate: { numerator: 25, denominator: 1 }, tracks: [], early: [] },
  renditions: [],
};
const ENCODING: Encoding = { ...PART, placeholder: undefined, warnings: [] };

type Setup = {
  /** The second run of the video, after a crash. */
  readonly run?: { readonly encode_run: number; readonly encode_interruptions: number };
  readonly signal?: AbortSignal;
  readonly encode: (request: EncodeRequest) => Promise<Encoding>;
};

/** A database with one run, which has published the folders. */
function createDatabase(run: object, folders: { readonly folder: string }[]) {
  return databaseOf({
    all: (text) => {
      if (text.includes('insert into growing_indexes')) {
        folders.push({ folder: '1-2' });
        return [{ folder: '1-2' }];
      }
      if (text.includes('select folder from growing_indexes')) return folders;
      return text.includes('select encode_run from assets') ? [run] : [];
    },
  });
}

/** What the job did, in order. */
async function runJob({
  run = { encode_run: 2, encode_interruptions: 0 },
  signal = new AbortController().signal,
  encode,
}: Setup) {
  const done: string[] = [];
  const state = { asset: createVideo({ id: ID, stream_status: 'processing', ...run }) };
  const onDecided = ({ set, jobs }: AssetWrite) => {
    if (set.encode_interruptions) done.push('released');
    for (const job of jobs)
      if (job.name === 'deliver-report') {
        const report = JSON.parse(job.payload.body) as EncoderReport;
        done.push(report.failure?.code ?? report.status);
      }
  };
  const ctx = createEncodingContext({
    db: createDatabase(run, []),
    jobs: {},
    store: {
      removeAll: async (prefix) => {
        done.push(`removed ${prefix}`);
        return 0;
      },
    },
    encoder: {
      startEncode: async (request) => ({ encoding: await encode(request) }),
      extractSubtitles: async () => [],
      extractClosedCaptions: async () => [],
    },
    worker: {
      name: 'machine:1',
      scratchRoot,
      originals: { open: async () => ({ file: { path: '/original' }, release: () => {} }) },
    },
    lifecycle: {
      findAssetById: async () => undefined,
      update: updateOf(state, onDecided),
      assetStore: contextOf<AssetStore>({ claimEncode: async () => state.asset }),
    },
    captions: { storeEmbeddedCaptions: async () => {} },
  });
  const job = { payload: { assetId: ID, attempt: 1 }, signal };
  await encodeAssetJob(ctx)(job).catch(() => done.push('thrown'));
  return done.filter((step) => !/\/1-(?!2\/)/.test(step));
}

const failsWith = (error: unknown) => async (): Promise<Encoding> => {
  throw error;
};
const failsPublished =
  (error: unknown) =>
  async ({ onPlayable }: EncodeRequest) => {
    await onPlayable?.(PART);
    throw error;
  };

test.each([
  ['an unavailable store', unavailable('no store')],
  ['a full store', new ObjectStoreError('full')],
  ['a full scratch disk', diskFull('scratch folder')],
  ['a write to a full scratch disk', Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })],
])('%s is no crash, before and after the first part is published', async (_, error) => {
  expect(await runJob({ encode: failsWith(error) })).toEqual(['released', REMOVED, 'thrown']);
  expect(await runJob({ encode: failsPublished(error) })).toEqual(['released', 'thrown']);
});

test('neither is a stop of the process', async () => {
  const stop = new AbortController();
  const encode = async ({ onPlayable }: EncodeRequest) => {
    await onPlayable?.(PART);
    stop.abort(new Error('the process is stopping'));
    throw stop.signal.reason;
  };
  expect(await runJob({ signal: stop.signal, encode })).toEqual(['released', 'thrown']);
});

test('any other error counts as a crash', async () => {
  expect(await runJob({ encode: failsPublished(new Error('a defect')) })).toEqual(['thrown']);
});

test('ten crashes fail the video, however many runs there were', async () => {
  const encode = async () => ENCODING;
  expect(await runJob({ encode, run: { encode_run: 40, encode_interruptions: 29 } })).toContain(
    'encoder_crashed',
  );
  expect(await runJob({ encode, run: { encode_run: 40, encode_interruptions: 30 } })).toContain('ready');
});
