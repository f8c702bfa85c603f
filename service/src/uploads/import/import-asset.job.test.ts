// Tests how an import job ends: stored, failed, over, or to be run again; the server and the store are fakes.
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Failure } from '../../assets/asset.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { badRequest, ServiceError, unavailable } from '../../platform/http/errors.ts';
import type { OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { importAssetJob, type ImportJobNeeds } from './import-asset.job.ts';

const ASSET = createVideo();
const STORED = createVideo({ uploaded_at: new Date(0) });
const FRESH = { transfer: null, partial: null, heldMs: 0 };
const SLOT = { isWanted: async () => false, giveBack: async () => undefined };
const BYTES = Buffer.from('the bytes of the file');

const respond =
  (status: number, body: Buffer | Readable = BYTES): OutboundFetch =>
  async () => ({
    status,
    headers: new Headers(Buffer.isBuffer(body) ? { 'content-length': String(body.length) } : {}),
    url: 'https://files.example.com/clip.mp4',
    body: Buffer.isBuffer(body) ? Readable.from([body]) : body,
  });

/** Waits until the request is aborted. */
const hang: OutboundFetch = ({ signal }) =>
  new Promise((_resolve, reject) => {
    const fail = () => reject(new OutboundError('aborted'));
    signal?.addEventListener('abort', fail);
    if (signal?.aborted) fail();
  });

type Ends = { readonly stored: string[]; readonly failures: Failure[]; readonly completed: number[] };

function createWorld(overrides: Partial<ImportJobNeeds> = {}): {
  run: (signal?: AbortSignal) => Promise<void>;
  ends: Ends;
} {
  const ends: Ends = { stored: [], failures: [], completed: [] };
  let runs = 0;
  const needs: ImportJobNeeds = {
    beginRun: async () => {
      runs += 1;
      return {
        asset: ASSET,
        uploadId: `upload-${runs}`,
        url: 'https://files.example.com/',
        headers: {},
        ...FRESH,
        runs,
      };
    },
    isCurrentRun: async () => true,
    isHosted: () => false,
    createProgressRecorder: () => async () => undefined,
    deferRun: async () => undefined,
    openPartial: async () => undefined,
    createPartial: async () => undefined,
    discardPartial: async () => undefined,
    appendBytes: async () => Promise.reject(new Error('nothing is appended')),
    findAssetById: async () => STORED,
    failImport: async (_run, failure) => void ends.failures.push(failure),
    completeImport: async () => void ends.completed.push(runs),
    storeOriginal: async (_asset, { bytes }) => {
      try {
        ends.stored.push(Buffer.concat(await Readable.from(bytes).toArray()).toString());
      } catch (cause) {
        throw new ServiceError('BAD_REQUEST', 'cut short', { cause });
      }
      return STORED;
    },
    fetch: respond(200),
    maxUploadBytes: 1000,
    importTimeoutSeconds: 60,
    now: () => new Date(),
    log: { warn: () => {} },
    ...overrides,
  };
  const payload = { assetId: ASSET.id, attempt: 1 };
  const run = (signal = new AbortController().signal) =>
    importAssetJob(needs)({ payload, signal, slot: SLOT });
  return { run, ends };
}

test('the bytes are stored and completed', async () => {
  const { run, ends } = createWorld();
  await run();
  expect(ends).toEqual({ stored: [BYTES.toString()], failures: [], completed: [1] });
});

test('bytes that an earlier run stored are completed without another download', async () => {
  const { run, ends } = createWorld({
    beginRun: async () => ({ asset: STORED, uploadId: 'u', url: '', headers: {}, ...FRESH, runs: 99 }),
    fetch: async () => {
      throw new Error('requested again');
    },
  });
  await run();
  expect(ends.completed).toHaveLength(1);
});

test('an import that is over changes nothing', async () => {
  const { run, ends } = createWorld({ beginRun: async () => undefined });
  await run();
  expect(ends).toEqual({ stored: [], failures: [], completed: [] });
});

test('an import that crashed its worker ten times fails', async () => {
  const { run, ends } = createWorld({
    beginRun: async () => ({ asset: ASSET, uploadId: 'u', url: '', headers: {}, ...FRESH, runs: 11 }),
  });
  await run();
  expect(ends).toMatchObject({ stored: [], failures: [{ code: 'import_failed' }] });
});

test('a permanent answer fails the import', async () => {
  const { run, ends } = createWorld({ fetch: respond(410) });
  await run();
  expect(ends.failures).toMatchObject([{ code: 'import_failed' }]);
});

test('a length other than the announced one fails the import before any byte is stored', async () => {
  const asset = createVideo({ announced_size_bytes: 5 });
  const { run, ends } = createWorld({
    beginRun: async () => ({ asset, uploadId: 'u', url: '', headers: {}, ...FRESH, runs: 1 }),
  });
  await run();
  expect(ends).toMatchObject({ stored: [], failures: [{ code: 'size_mismatch' }] });
});

test('the time limit fails the import', async () => {
  const { run, ends } = createWorld({ fetch: hang, importTimeoutSeconds: 0.05 });
  await run();
  expect(ends.failures).toMatchObject([{ code: 'import_timeout' }]);
});

test('a stopping worker leaves the import to the queue, and its error names no URL', async () => {
  const stopping = new AbortController();
  const { run, ends } = createWorld({ fetch: hang });
  const running = run(stopping.signal);
  stopping.abort();
  await expect(running).rejects.toThrow(/^the import was interrupted$/);
  expect(ends.failures).toEqual([]);
});

test('a download ends when the asset waits for it no longer', async () => {
  const { run, ends } = createWorld({ fetch: hang, isCurrentRun: async () => false });
  await run();
  expect(ends).toEqual({ stored: [], failures: [], completed: [] });
});

test('a store that is down lets the job run again', async () => {
  const { run, ends } = createWorld({
    storeOriginal: async () => {
      throw unavailable('the store is down');
    },
  });
  await expect(run()).rejects.toThrow('the store is down');
  expect(ends.failures).toEqual([]);
});

test('an exceeded quota fails the import', async () => {
  const { run, ends } = createWorld({
    storeOriginal: async () => {
      throw badRequest('The quota is exceeded', { reason: 'quota_exceeded' });
    },
  });
  await run();
  expect(ends.failures).toEqual([
    { code: 'import_too_large', message: 'The quota is exceeded', retryable: true },
  ]);
});
