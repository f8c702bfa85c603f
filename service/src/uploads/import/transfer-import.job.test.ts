// Tests how a transfer job ends: sent, failed, over, or to be run again; the provider and the store are
// fakes.
import { expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { ProviderError } from '../../providers/provider.ts';
import type { ImportRun } from './import-runs.ts';
import { transferImportJob, type TransferJobNeeds } from './transfer-import.job.ts';

const ASSET = createVideo({
  provider: 'cdnhost',
  provider_video_id: 'v1',
  uploaded_at: new Date(0),
  size_bytes: 100,
  duration_ms: 4000,
});
const UPLOAD = { url: 'https://up.example/u1', headers: {}, chunkSize: null };
const EXPIRES = { expires_at: '2026-01-01T00:00:00.000Z', max_bytes: 1000 };
const TARGET = {
  protocol: 'tus',
  method: 'POST',
  url: 'https://up.example/',
  headers: {},
  fields: {},
  ...EXPIRES,
} as const;

const SLOT = { isWanted: async () => false, giveBack: async () => {} };

const createRun = (more: Partial<ImportRun> = {}): ImportRun => ({
  asset: ASSET,
  uploadId: 'u',
  url: '',
  headers: {},
  transfer: null,
  partial: null,
  heldMs: 0,
  runs: 2,
  ...more,
});

function createWorld(overrides: Partial<TransferJobNeeds> = {}) {
  const calls: string[] = [];
  const record =
    <A extends readonly unknown[]>(name: string, detail: (...args: A) => unknown = () => '') =>
    async (...args: A): Promise<void> =>
      void calls.push(`${name} ${detail(...args)}`.trim());
  const needs: TransferJobNeeds = {
    beginRun: async () => createRun(),
    isCurrentRun: async () => true,
    createProgressRecorder: () => record('progress'),
    failImport: record('fail', (_run: ImportRun, { code, retryable }) => `${code} ${retryable}`),
    recordOpenTransfer: record('open', (_run: ImportRun, { videoId }) => videoId),
    recordTransferFailure: record('explain', (_run: ImportRun, { failure }) => failure.code),
    completeTransfer: record('complete'),
    releaseOriginal: record('release'),
    openFileUpload: async () => ({ videoId: 'v2', target: TARGET }),
    findMaxDuration: () => undefined,
    openTusUpload: async () => UPLOAD,
    deferRun: record('defer', (_run: ImportRun, { hasProgress }) => hasProgress),
    sendByTus: async () => {
      calls.push('send');
      return 'sent';
    },
    sendWhole: record('send whole'),
    importTimeoutSeconds: 60,
    log: { warn: () => {} },
    ...overrides,
  };
  const payload = { lane: 'cdnhost', assetId: ASSET.id, attempt: 1 };
  const run = (signal = new AbortController().signal) =>
    transferImportJob(needs)({ payload, signal, slot: SLOT });
  return { run, calls };
}

const failWith = (...codes: readonly ConstructorParameters<typeof ProviderError>[0][]) => {
  const left = [...codes];
  return async (): Promise<'sent'> => {
    const code = left.shift();
    if (code) throw new ProviderError(code);
    return 'sent';
  };
};

test('a new upload takes the file, and is recorded before its bytes', async () => {
  const { run, calls } = createWorld();
  await run();
  expect(calls).toEqual(['open v2', 'send', 'complete']);
});

test('the reservation covers the duration of the file', async () => {
  const files: unknown[] = [];
  const opening = (more: Partial<Asset>) =>
    createWorld({
      beginRun: async () => createRun({ asset: { ...ASSET, ...more } }),
      openFileUpload: async (_asset, file) => {
        files.push(file);
        return 'stored';
      },
    }).run();
  await opening({});
  await opening({ duration_ms: null });
  expect(files).toEqual([
    { sizeBytes: 100, maxDurationSeconds: 10 },
    { sizeBytes: 100, maxDurationSeconds: null },
  ]);
});

test('a form is sent in one request', async () => {
  const target = { ...TARGET, protocol: 'form' } as const;
  const { run, calls } = createWorld({ openFileUpload: async () => ({ videoId: 'v2', target }) });
  await run();
  expect(calls).toEqual(['send whole', 'complete']);
});

test('the upload of an earlier run is continued', async () => {
  const { run, calls } = createWorld({
    beginRun: async () => createRun({ transfer: { videoId: 'v1', upload: UPLOAD } }),
  });
  await run();
  expect(calls).toEqual(['send', 'complete']);
});

test.each([
  ['of another video', 'v0', failWith()],
  ['that the provider has lost', 'v1', failWith('provider_video_missing')],
  ['whose signature has expired', 'v1', failWith('provider_credentials')],
])('an upload %s is opened again', async (_case, videoId, sendByTus) => {
  const { run, calls } = createWorld({
    beginRun: async () => createRun({ transfer: { videoId, upload: UPLOAD } }),
    sendByTus,
  });
  await run();
  expect(calls).toEqual(['open v2', 'complete']);
});

test.each([
  ['that has all bytes already is complete', 'stored', ['complete']],
  ['of an asset that changed is over', 'over', ['release']],
] as const)('an upload %s', async (_case, opened, expected) => {
  const { run, calls } = createWorld({ openFileUpload: async () => opened });
  await run();
  expect(calls).toEqual(expected);
});

test.each([
  ['a run that is over', undefined],
  ['an asset without stored bytes', createRun({ asset: { ...ASSET, uploaded_at: null } })],
])('%s only removes the bytes that it may have left', async (_case, started) => {
  const { run, calls } = createWorld({ beginRun: async () => started });
  await run();
  expect(calls).toEqual(['release']);
});

test.each(['provider_unreachable', 'provider_rate_limited', 'provider_video_missing'] as const)(
  '%s lets the job run again, and the timeline says why',
  async (code) => {
    const { run, calls } = createWorld({ sendByTus: failWith(code) });
    await expect(run()).rejects.toThrow(ProviderError);
    expect(calls).toEqual(['open v2', `explain ${code}`]);
  },
);

test.each(['provider_rejected', 'provider_credentials', 'provider_quota'] as const)(
  '%s fails the import at once, and a retry may follow',
  async (code) => {
    const { run, calls } = createWorld({ openFileUpload: failWith(code) as never });
    await run();
    expect(calls).toEqual([`fail ${code} true`]);
  },
);

test('the last run fails the import with what the provider said', async () => {
  const { run, calls } = createWorld({
    beginRun: async () => createRun({ runs: 20 }),
    sendByTus: failWith('provider_timeout'),
  });
  await run();
  expect(calls).toEqual(['open v2', 'fail provider_timeout true']);
});

test('a transfer that crashed its workers too often fails', async () => {
  const { run, calls } = createWorld({ beginRun: async () => createRun({ runs: 21 }) });
  await run();
  expect(calls).toEqual(['fail upload_failed true']);
});

test('a video that is longer than the provider accepts is not sent', async () => {
  const { run, calls } = createWorld({ findMaxDuration: () => 3 });
  await run();
  expect(calls).toEqual(['fail too_long true']);
});

/** Waits until the transfer is aborted. */
const hang: TransferJobNeeds['sendByTus'] = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });

test('a transfer ends when the asset waits for it no longer', async () => {
  const { run, calls } = createWorld({ sendByTus: hang, isCurrentRun: async () => false });
  await run();
  expect(calls).toEqual(['open v2', 'release']);
});

test('the time limit fails the import', async () => {
  const { run, calls } = createWorld({ sendByTus: hang, importTimeoutSeconds: 0.05 });
  await run();
  expect(calls).toEqual(['open v2', 'fail upload_failed true']);
});

test('a stopping worker leaves the transfer to the queue', async () => {
  const stopping = new AbortController();
  const { run, calls } = createWorld({ sendByTus: hang });
  const running = run(stopping.signal);
  stopping.abort();
  await expect(running).rejects.toThrow(/^the import was interrupted$/);
  expect(calls).toEqual(['open v2']);
});

test('a transfer that gives way is sent again, and nothing else is recorded', async () => {
  const { run, calls } = createWorld({ sendByTus: async () => 'yielded' });
  await run();
  expect(calls).toEqual(['open v2', 'defer true']);
});
