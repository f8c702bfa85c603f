// Tests how a transfer job ends: sent, failed, over, or to be run again. The provider is a tus server in
// memory.
import { buffer } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { contextOf } from '../../platform/values/context.fixture.ts';
import { type HostedApi, ProviderError } from '../../providers/provider.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { CLAIMED_IMPORT, createIntake, createUploadsWorld, MP4 } from '../context.fixture.ts';
import type { UploadsContext } from '../context.ts';
import { transferImportJob } from './transfer-import.job.ts';
import { openTusServer } from './tus-server.fixture.ts';

const ID = createVideo().id;
const ASSET = createVideo({
  provider: 'cdnhost',
  provider_video_id: 'v1',
  uploaded_at: NOW,
  original_upload: ID,
  size_bytes: MP4.length,
  duration_ms: 4000,
});
const UPLOAD = { url: 'https://up.example/u1', headers: {}, chunkSize: null };
const TARGET = {
  protocol: 'tus',
  method: 'POST',
  url: 'https://up.example/',
  headers: {},
  fields: {},
  expires_at: '2026-01-01T00:00:00.000Z',
  max_bytes: 1000,
} as const;
const CLAIMED = { ...CLAIMED_IMPORT, runs: 2 };

type SendBody = UploadsContext['intake']['outbound']['sendBody'];
type Open = UploadsContext['providers']['openFileUpload'];

type TransferCase = {
  readonly asset?: Partial<Asset>;
  readonly claimed?: object | undefined;
  readonly isCurrent?: boolean;
  readonly open?: Open;
  readonly maxSeconds?: number;
  /** Status of the responses to the first requests, instead of the provider's own. */
  readonly statuses?: readonly number[];
  readonly send?: SendBody;
  readonly timeoutSeconds?: number;
  /** Whether another owner waits for the slot. */
  readonly isWanted?: boolean;
};

const openTus: Open = async () => ({ videoId: 'v2', target: TARGET });

function createTransfer({ asset, isCurrent = true, ...given }: TransferCase = {}) {
  const provider = openTusServer(given.statuses ?? []);
  const rows = {
    'claim import': 'claimed' in given ? given.claimed : CLAIMED,
    'current import': isCurrent ? { id: ID } : undefined,
    'record held run': { asset_id: ID },
  };
  const world = createUploadsWorld({ ...ASSET, ...asset }, rows);
  world.stored.set(uploadKey(ID, ID), MP4.toString());
  const { settings, providers } = world.ctx;
  const importLimits = { ...settings.importLimits, importTimeoutSeconds: given.timeoutSeconds ?? 60 };
  const ctx: UploadsContext = {
    ...world.ctx,
    settings: { ...settings, importLimits },
    providers: {
      ...providers,
      findMaxDuration: () => given.maxSeconds,
      openFileUpload: given.open ?? openTus,
      call: (_name, request) => request(contextOf<HostedApi>({})),
    },
    intake: createIntake({
      outbound: contextOf<UploadsContext['intake']['outbound']>({ sendBody: given.send ?? provider.send }),
    }),
  };
  const returned: unknown[] = [];
  const isWanted = async () => given.isWanted ?? false;
  const slot = { isWanted, giveBack: async (tx: unknown) => void returned.push(tx) };
  const payload = { provider: 'cdnhost', assetId: ID, attempt: 1 };
  const run = (signal = new AbortController().signal) => transferImportJob(ctx)({ payload, signal, slot });
  return { ...world, run, received: provider.received, hasReturnedSlot: () => returned.length > 0 };
}

/** The provider processes the video, and the service removes its copy. */
const HANDED_OVER = { stream_status: 'processing', uploaded_at: null };

test('a new upload takes the file, and is recorded before its bytes', async () => {
  const { run, asset, received, statements } = createTransfer();
  await run();
  expect(received()).toBe(MP4.toString());
  expect(statements).toContain('record transfer');
  expect(asset()).toMatchObject(HANDED_OVER);
});

test.each([
  [4000, 10],
  [null, null],
])('the reservation covers the duration of a file of %s ms', async (duration_ms, maxDurationSeconds) => {
  const files: unknown[] = [];
  const open: Open = async (_asset, file) => {
    files.push(file);
    return 'stored';
  };
  const { run, asset, received } = createTransfer({ asset: { duration_ms }, open });
  await run();
  expect(files).toEqual([{ sizeBytes: MP4.length, maxDurationSeconds }]);
  expect(received(), 'the provider has all bytes already').toBe('');
  expect(asset()).toMatchObject(HANDED_OVER);
});

test('a form is sent in one request', async () => {
  const open: Open = async () => ({ videoId: 'v2', target: { ...TARGET, protocol: 'form' } });
  const bodies: string[] = [];
  const send: SendBody = async ({ bytes }) => {
    bodies.push((await buffer(bytes)).toString());
    return { status: 200, headers: new Headers() };
  };
  const { run, asset } = createTransfer({ open, send });
  await run();
  expect(bodies).toEqual([expect.stringContaining(MP4.toString())]);
  expect(asset()).toMatchObject(HANDED_OVER);
});

test('the upload of an earlier run is continued', async () => {
  const open: Open = async () => Promise.reject(new Error('opened again'));
  const claimed = { ...CLAIMED, transfer: { videoId: 'v1', upload: UPLOAD } };
  const { run, asset, received } = createTransfer({ claimed, open });
  await run();
  expect(received()).toBe(MP4.toString());
  expect(asset()).toMatchObject(HANDED_OVER);
});

test.each([
  ['to another video', 'v0', []],
  ['that the provider has lost', 'v1', [404]],
  ['with an expired signature', 'v1', [401]],
])('an upload %s is opened again', async (_case, videoId, statuses) => {
  const claimed = { ...CLAIMED, transfer: { videoId, upload: UPLOAD } };
  const { run, asset, received, statements } = createTransfer({ claimed, statuses });
  await run();
  expect(statements).toContain('record transfer');
  expect(received()).toBe(MP4.toString());
  expect(asset()).toMatchObject(HANDED_OVER);
});

test.each<[string, TransferCase]>([
  ['a run that is over', { claimed: undefined }],
  ['an asset that changed', { open: async () => 'over' }],
])('%s only removes the bytes that it may have left', async (_case, given) => {
  const { run, decisions, asset } = createTransfer({ ...given, asset: { stream_status: 'ready' } });
  await run();
  expect(asset().uploaded_at).toBeNull();
  expect(decisions.flatMap(({ jobs }) => jobs)).toEqual([{ name: 'purge-asset', payload: { assetId: ID } }]);
});

test('an asset without stored bytes keeps waiting', async () => {
  const { run, decisions } = createTransfer({ asset: { uploaded_at: null } });
  await run();
  expect(decisions).toEqual([]);
});

test.each([
  [429, 'provider_rate_limited'],
  [404, 'provider_video_missing'],
])('the status %s lets the job run again, and the timeline says why', async (status, code) => {
  const { run, asset, decisions } = createTransfer({ statuses: [status] });
  await expect(run()).rejects.toThrow(ProviderError);
  expect(decisions.flatMap(({ events }) => events)).toMatchObject([
    { type: 'asset.checked', data: { code } },
  ]);
  expect(asset().failure).toBeNull();
});

test.each(['provider_rejected', 'provider_credentials', 'provider_quota'] as const)(
  '%s fails the import at once, and a retry may follow',
  async (code) => {
    const { run, asset } = createTransfer({ open: async () => Promise.reject(new ProviderError(code)) });
    await run();
    expect(asset()).toMatchObject({ stream_status: 'failed', failure: { code, retryable: true } });
  },
);

test.each<[string, TransferCase, string]>([
  ['the last run', { claimed: { ...CLAIMED, runs: 20 }, statuses: [429] }, 'provider_rate_limited'],
  ['too many crashed workers', { claimed: { ...CLAIMED, runs: 21 } }, 'upload_failed'],
  ['a video that is longer than the provider accepts', { maxSeconds: 3 }, 'too_long'],
])('%s fails the import', async (_case, given, code) => {
  const { run, asset, received } = createTransfer(given);
  await run();
  expect(asset()).toMatchObject({ stream_status: 'failed', failure: { code, retryable: true } });
  expect(received()).toBe('');
});

/** Waits until the transfer is aborted. */
const hang: SendBody = ({ signal }) =>
  new Promise((_resolve, reject) => {
    const fail = () => reject(signal?.reason);
    signal?.addEventListener('abort', fail);
    if (signal?.aborted) fail();
  });

test('a transfer ends when the asset waits for it no longer', async () => {
  const { run, asset, decisions } = createTransfer({ send: hang, isCurrent: false });
  await run();
  expect(decisions).toEqual([]);
  expect(asset().failure).toBeNull();
});

test('the time limit fails the import', async () => {
  const { run, asset } = createTransfer({ send: hang, timeoutSeconds: 0.05 });
  await run();
  expect(asset().failure?.code).toBe('upload_failed');
});

test('a stopping worker leaves the transfer to the queue', async () => {
  const stopping = new AbortController();
  const { run, asset } = createTransfer({ send: hang });
  const running = run(stopping.signal);
  stopping.abort();
  await expect(running).rejects.toThrow(/^the import was interrupted$/);
  expect(asset().failure).toBeNull();
});

test('a transfer gives way at the end of a chunk, and nothing else is recorded', async () => {
  vi.useFakeTimers();
  try {
    const open: Open = async () => ({ videoId: 'v2', target: { ...TARGET, chunk_size_bytes: 10 } });
    const send: SendBody = async ({ method, bytes }) => {
      if (method === 'POST') return { status: 201, headers: new Headers({ location: '/u1' }) };
      if (method === 'HEAD') return { status: 200, headers: new Headers({ 'upload-offset': '0' }) };
      const chunk = await buffer(bytes);
      await vi.advanceTimersByTimeAsync(10_000);
      return { status: 204, headers: new Headers({ 'upload-offset': String(chunk.length) }) };
    };
    const { run, hasReturnedSlot, decisions } = createTransfer({ open, send, isWanted: true });
    await run();
    expect(hasReturnedSlot()).toBe(true);
    expect(decisions).toEqual([]);
  } finally {
    vi.useRealTimers();
  }
});
