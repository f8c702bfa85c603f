// Tests which ends of a run count as a crash, and which files stay; encoder, store and database are fakes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unavailable } from '../../platform/errors.ts';
import { diskFull } from '../../platform/free-space.ts';
import { ObjectStoreError } from '../../storage/object-store.ts';
import type { EncodeRequest, Encoding, PlayablePart } from '../encoder.ts';
import { encodeAssetJob, type EncodeNeeds } from './encode-asset.job.ts';
import type { Run } from './encode-runs.ts';

const ID = '01900000-0000-7000-8000-000000000001';
const REMOVED = `removed renditions/${ID}/1-2/`;

let scratchRoot: string;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-encode-'));
});
afterAll(() => rm(scratchRoot, { recursive: true }));

const SOURCE = {
  container: 'mov',
  video: {},
  audio: [],
  width: 640,
  height: 360,
  durationMs: 9000,
} as unknown as PlayablePart;
const PART = { ...SOURCE, files: [], manifests: [], renditions: [] };
const ENCODING = { ...PART, warnings: [] } as unknown as Encoding;

type Setup = {
  readonly run?: Partial<Run>;
  readonly signal?: AbortSignal;
  readonly encode: (request: EncodeRequest) => Promise<Encoding>;
};

/** What the job did, in order. */
async function runJob({ run, signal = new AbortController().signal, encode }: Setup) {
  const done: string[] = [];
  const needs = {
    scratchRoot,
    chunkSeconds: 0,
    beginRun: async () => ({
      ...{ assetId: ID, attempt: 1, try: 2, crashes: 1, mimeType: 'video/mp4', posterTimeMs: null },
      originalKey: `originals/${ID}/original`,
      ...run,
    }),
    endRun: async () => {},
    isCurrentRun: async () => true,
    releaseRun: async () => void done.push('released'),
    finishRun: async (_: Run, { report }: { report: { status: string; failure?: { code: string } } }) => {
      done.push(report.failure?.code ?? report.status);
      return true;
    },
    findPublishedFolders: async () => [],
    saveManifests: async () => true,
    deleteManifests: async () => {},
    deleteChunks: async () => {},
    canUseChunks: async () => false,
    findAssetById: async () => undefined,
    isContinued: async () => false,
    originals: { open: async () => ({ file: { path: '/original' }, release: () => {} }) },
    storeEmbeddedCaptions: async () => {},
    encoder: {
      startEncode: async (request: EncodeRequest) => ({ encoding: await encode(request) }),
      extractSubtitles: async () => [],
    },
    store: { removeAll: async (prefix: string) => void done.push(`removed ${prefix}`) },
    callback: { deliver: async () => ({ processed: true }) },
    log: { warn: () => {} },
  } as unknown as EncodeNeeds;
  await encodeAssetJob(needs)({ payload: { assetId: ID, attempt: 1 }, signal }).catch(() =>
    done.push('thrown'),
  );
  return done.filter((step) => step !== `removed renditions/${ID}/1-1/`);
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
  expect(await runJob({ encode, run: { try: 40, crashes: 10 } })).toContain('encoder_crashed');
  expect(await runJob({ encode, run: { try: 40, crashes: 9 } })).toContain('ready');
});
