// Tests how an import job ends: stored, failed, over, or to be run again. The server is a fake.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { badRequest, unavailable } from '../../platform/http/errors.ts';
import type { OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { CLAIMED_IMPORT, createIntake, createUploadsWorld, MP4 } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { importAssetJob } from './import-asset.job.ts';

const ASSET = createVideo();
const STORED: Partial<Asset> = { uploaded_at: NOW, original_upload: ASSET.id, size_bytes: MP4.length };

const respond =
  (status: number): OutboundFetch =>
  async () => ({
    status,
    headers: new Headers({ 'content-length': String(MP4.length) }),
    url: 'https://files.example.com/clip.mp4',
    body: Readable.from([MP4]),
  });

/** Waits until the request is aborted. */
const hang: OutboundFetch = ({ signal }) =>
  new Promise((_resolve, reject) => {
    const fail = () => reject(new OutboundError('aborted'));
    signal?.addEventListener('abort', fail);
    if (signal?.aborted) fail();
  });

type Import = {
  readonly asset?: Partial<Asset>;
  readonly claimed?: object | (() => object) | undefined;
  readonly uncount?: () => undefined;
  readonly isCurrent?: boolean;
  readonly fetchFile?: OutboundFetch;
  readonly timeoutSeconds?: number;
  readonly put?: UploadsContext['store']['put'];
};

function createImport({ asset, isCurrent = true, fetchFile = respond(200), ...given }: Import = {}) {
  const claimed = 'claimed' in given ? given.claimed : CLAIMED_IMPORT;
  const rows = {
    'claim import': claimed,
    'current import': isCurrent ? { id: ASSET.id } : undefined,
    'record held run': given.uncount,
  };
  const world = createUploadsWorld({ ...ASSET, ...asset }, rows);
  const { settings, store } = world.ctx;
  const importLimits = { ...settings.importLimits, importTimeoutSeconds: given.timeoutSeconds ?? 60 };
  const outbound = { fetchFile } as UploadsContext['intake']['outbound'];
  const ctx: UploadsContext = {
    ...world.ctx,
    settings: { ...settings, importLimits },
    store: { ...store, put: given.put ?? store.put },
    intake: createIntake({ outbound }),
  };
  const payload = { assetId: ASSET.id, attempt: 1 };
  const slot = { isWanted: async () => false, giveBack: async () => undefined };
  const run = (signal = new AbortController().signal) => importAssetJob(ctx)({ payload, signal, slot });
  return { ...world, run };
}

test('the bytes are stored and completed', async () => {
  const { run, asset, stored } = createImport();
  await run();
  expect(asset()).toMatchObject({ stream_status: 'processing', size_bytes: MP4.length });
  expect([...stored.values()]).toEqual([MP4.toString()]);
});

test('bytes that an earlier run stored are completed without another download', async () => {
  const fetchFile: OutboundFetch = async () => Promise.reject(new Error('requested again'));
  const { run, asset, stored } = createImport({
    asset: STORED,
    claimed: { ...CLAIMED_IMPORT, runs: 99 },
    fetchFile,
  });
  stored.set(uploadKey(ASSET.id, ASSET.id), MP4.toString());
  await run();
  expect(asset().stream_status).toBe('processing');
});

test('an import that is over changes nothing', async () => {
  const { run, decisions } = createImport({ claimed: undefined });
  await run();
  expect(decisions).toEqual([]);
});

test('a length other than the announced one fails the import before any byte is stored', async () => {
  const { run, asset, stored } = createImport({ asset: { announced_size_bytes: 5 } });
  await run();
  expect(asset().failure?.code).toBe('size_mismatch');
  expect(stored.size).toBe(0);
});

test.each<[string, Import, object]>([
  ['ten crashed workers', { claimed: { ...CLAIMED_IMPORT, runs: 11 } }, { code: 'import_failed' }],
  ['a permanent answer', { fetchFile: respond(410) }, { code: 'import_failed' }],
  ['the time limit', { fetchFile: hang, timeoutSeconds: 0.05 }, { code: 'import_timeout' }],
  [
    'an exceeded quota',
    { put: async () => Promise.reject(badRequest('The quota is exceeded', { reason: 'quota_exceeded' })) },
    { code: 'import_too_large', message: 'The quota is exceeded', retryable: true },
  ],
])('the import fails after %s', async (_case, given, failure) => {
  const { run, asset, stored } = createImport(given);
  await run();
  expect(asset()).toMatchObject({ stream_status: 'failed', failure });
  expect(stored.size).toBe(0);
});

test('a stopping worker leaves the import to the queue, and its error names no URL', async () => {
  const stopping = new AbortController();
  const { run, asset } = createImport({ fetchFile: hang });
  const running = run(stopping.signal);
  stopping.abort();
  await expect(running).rejects.toThrow(/^the import was interrupted$/);
  expect(asset().failure).toBeNull();
});

test('a download ends when the asset waits for it no longer', async () => {
  const { run, decisions } = createImport({ fetchFile: hang, isCurrent: false });
  await run();
  expect(decisions).toEqual([]);
});

test('a store that is down lets the job run again', async () => {
  const put = async () => Promise.reject(unavailable('the store is down'));
  const { run, asset } = createImport({ put });
  await expect(run()).rejects.toThrow('the store is down');
  expect(asset().failure).toBeNull();
});

test('an outage of the store uses up no run', async () => {
  let runs = 0;
  const counted: Import = {
    claimed: () => {
      runs += 1;
      return { ...CLAIMED_IMPORT, runs };
    },
    uncount: () => {
      runs -= 1;
    },
  };
  const down = createImport({
    ...counted,
    put: async () => Promise.reject(unavailable('the store is down')),
  });
  for (let outage = 0; outage < 12; outage += 1)
    await expect(down.run()).rejects.toThrow('the store is down');
  const { run, asset } = createImport(counted);
  await run();
  expect(asset()).toMatchObject({ stream_status: 'processing', failure: null });
});
