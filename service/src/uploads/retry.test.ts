// Tests that a retry processes the stored bytes again, or opens another upload without them (contract B4).
import { describe, expect, test } from 'vitest';
import type { Asset } from '../assets/asset.ts';
import { createVideo, NOW } from '../lifecycle/asset.fixture.ts';
import { firstUploadCheckAt } from '../lifecycle/decisions/reconcile-schedule.ts';
import { createUploadsWorld } from './context.fixture.ts';
import type { UploadsContext } from './context.ts';
import { retryUpload } from './retry.ts';

const FAILURE = { code: 'encode_failed', message: 'It failed.', retryable: true };
const failed = createVideo({
  stream_status: 'failed',
  failure: FAILURE,
  uploaded_at: NOW,
  size_bytes: 3,
  upload_expires_at: NOW,
});
const refused: Partial<Asset> = { refused: true, uploaded_at: null };
const hosted = createVideo({
  ...failed,
  provider: 'cdnhost',
  provider_video_id: 'guid-1',
  uploaded_at: null,
});
const target = expect.objectContaining({ protocol: 'put' });

const HOSTED_TARGET = {
  protocol: 'put',
  method: 'PUT',
  url: 'https://up.example/',
  headers: {},
  expires_at: NOW.toISOString(),
  max_bytes: 1000,
} as const;

type Provider = {
  readonly canRestart?: boolean;
  readonly canTakeUploads?: boolean;
  readonly importUrl?: string;
};

/** Records the calls of a retry in their order; the asset changes as the store would change it. */
function recordCalls({ canRestart = true, canTakeUploads = true, importUrl }: Provider = {}) {
  const calls: unknown[][] = [];
  const { ctx } = createUploadsWorld(failed, {
    'extend import': importUrl === undefined ? undefined : { url: importUrl },
  });
  const { lifecycle, providers } = ctx;
  const recording: UploadsContext = {
    ...ctx,
    providers: {
      ...providers,
      canRestart: () => canRestart,
      canTakeUploads: () => canTakeUploads,
      restart: async () => void calls.push(['restart']),
      discardVideo: async ({ provider_video_id: id }) => void calls.push(['discard', id]),
      startJob: ({ id, attempt }) => ({ name: 'encode-asset', payload: { assetId: id, attempt } }),
      prepareUpload: async (asset) => ({ asset, target: HOSTED_TARGET }),
      registry: new Map(),
    },
    lifecycle: {
      ...lifecycle,
      retryAsset: async (asset, how) => {
        calls.push(['retry', how]);
        return { ...asset, stream_status: 'processing', attempt: asset.attempt + 1 };
      },
      reopenAsset: async (asset, reopening) => {
        calls.push(['reopen', reopening]);
        return { ...asset, stream_status: 'pending_upload', attempt: asset.attempt + 1, uploaded_at: null };
      },
    },
  };
  return { calls, ctx: recording };
}

async function retried(asset: Asset, provider?: Provider) {
  const { calls, ctx } = recordCalls(provider);
  const opened = await retryUpload(ctx, asset, { user: 'ann' });
  return { calls, names: calls.map(([name]) => name), opened };
}

const reopeningOf = async (asset: Asset) => (await retried(asset)).calls.at(-1)?.[1];

describe('a retry of a video with stored bytes', () => {
  test('encodes them again in the next attempt', async () => {
    const { calls, opened } = await retried(failed);
    const job = { name: 'encode-asset', payload: { assetId: failed.id, attempt: 2 } };
    expect(calls).toEqual([['retry', { job, actorData: { user: 'ann' } }]]);
    expect(opened).toMatchObject({ asset: { stream_status: 'processing', attempt: 2 }, target: null });
  });
});

describe('a retry opens another upload', () => {
  test.each<[string, Asset]>([
    ['of refused bytes', { ...failed, ...refused }],
    ['of refused bytes that are still stored', { ...failed, refused: true }],
    ['of bytes that never came', { ...failed, uploaded_at: null }],
    ['after a final failure', { ...failed, ...refused, failure: { ...FAILURE, retryable: false } }],
  ])('%s', async (_, asset) => {
    const { names, opened } = await retried(asset);
    expect(names).toEqual(['reopen']);
    expect(opened).toMatchObject({ asset: { stream_status: 'pending_upload', attempt: 2 }, target });
  });

  test('with the whole upload time, and no check at a provider', async () => {
    expect(await reopeningOf({ ...failed, ...refused })).toMatchObject({
      expiresAt: new Date(NOW.getTime() + 600_000),
      checkAt: null,
      actorData: { user: 'ann' },
    });
  });

  test.each<[string, Partial<Asset>, boolean]>([
    ['unless the announced file itself was refused', {}, false],
    ['where other bytes than announced came', { announced_size_bytes: 4 }, true],
    ['where no bytes came', { size_bytes: null }, true],
    ['where the upload expired', { failure: { ...FAILURE, code: 'upload_expired' } }, true],
    ['where nothing was refused', { refused: false }, true],
  ])('that must match the announcement %s', async (_, more, keepsAnnouncement) => {
    expect(await reopeningOf({ ...failed, ...refused, ...more })).toMatchObject({ keepsAnnouncement });
  });
});

describe('a retry of an import', () => {
  const asset = { ...failed, ...refused };

  const sources = { 'https://a.test/a': 'import-asset', 's3://films/a': 'adopt-asset' };
  test.each(Object.entries(sources))('reads its source again while %s is stored', async (importUrl, name) => {
    const { calls, opened } = await retried(asset, { importUrl });
    const job = { name, payload: { assetId: failed.id, attempt: 2 } };
    expect(calls).toEqual([['reopen', expect.objectContaining({ job })]]);
    expect(opened).toMatchObject({ asset: { stream_status: 'pending_upload', attempt: 2 }, target: null });
  });

  test('opens an upload where the source is gone', async () => {
    expect((await retried(asset)).opened).toMatchObject({ target });
  });

  test('that is repeated offers no upload', async () => {
    const importing = createVideo({ attempt: 2 });
    const { names, opened } = await retried(importing, { importUrl: 'https://files.example.com/a.mp4' });
    expect(names).toEqual([]);
    expect(opened).toEqual({ asset: importing, target: null });
  });
});

test('a retry of a failure without a reason is one like any other', async () => {
  expect((await retried({ ...hosted, failure: null })).names).toEqual(['restart', 'retry']);
  expect(await reopeningOf({ ...failed, ...refused, failure: null })).toMatchObject({
    keepsAnnouncement: false,
  });
});

test('a retry after a concurrent one offers no upload for the attempt that is being processed', async () => {
  const { ctx } = recordCalls();
  const overtaken = createVideo({ stream_status: 'processing', attempt: 2 });
  const lifecycle = { ...ctx.lifecycle, reopenAsset: async () => overtaken };
  const opened = await retryUpload({ ...ctx, lifecycle }, { ...failed, ...refused }, {});
  expect(opened).toEqual({ asset: overtaken, target: null });
});

describe('a retry at a hosted provider', () => {
  test('has the provider encode the stored video again', async () => {
    const { names, opened } = await retried(hosted);
    expect(names).toEqual(['restart', 'retry']);
    expect(opened.target).toBeNull();
  });
  test.each<[string, Partial<Asset>, Provider]>([
    ['the upload was refused', { refused: true }, {}],
    ['the upload failed', { failure: { ...FAILURE, code: 'upload_failed' } }, {}],
    ['the provider cannot encode a stored video again', {}, { canRestart: false }],
    ['no video was created', { provider_video_id: null }, {}],
  ])('replaces the video where %s', async (_, more, provider) => {
    const { names } = await retried({ ...hosted, ...more }, provider);
    expect(names).toEqual(['discard', 'reopen']);
  });
  test('checks the new upload at the provider', async () => {
    expect(await reopeningOf({ ...hosted, refused: true })).toMatchObject({
      checkAt: firstUploadCheckAt(NOW),
    });
  });
  test('keeps a video that the caller linked', async () => {
    const linked = { ...hosted, refused: true, upload_expires_at: null };
    expect((await retried(linked)).names).toEqual(['reopen']);
  });
  test('keeps the video while the provider takes no uploads', async () => {
    const { names } = await retried({ ...hosted, refused: true }, { canTakeUploads: false });
    expect(names).toEqual(['restart', 'retry']);
  });
});

describe('a repeated retry changes nothing', () => {
  test('while the attempt is processed', async () => {
    const asset = { ...failed, stream_status: 'processing' } as const;
    expect(await retried(asset)).toMatchObject({ calls: [], opened: { asset, target: null } });
  });
  test('while the new upload is open: it returns the upload target', async () => {
    const open = createVideo({ attempt: 2 });
    expect(await retried(open)).toMatchObject({ calls: [], opened: { asset: open, target } });
  });
  test('after the new bytes came', async () => {
    const uploaded = createVideo({ attempt: 2, uploaded_at: NOW });
    expect(await retried(uploaded)).toMatchObject({ calls: [], opened: { asset: uploaded, target: null } });
  });
});

describe('a retry is refused', () => {
  test.each([
    ['pending_upload', 1],
    ['ready', 1],
    ['ready', 2],
  ] as const)('of an asset that is %s in attempt %d', async (stream_status, attempt) => {
    await expect(retried(createVideo({ stream_status, attempt }))).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `Only a failed asset can be retried; this one is ${stream_status}.`,
      details: { reason: 'wrong_status', stream_status },
    });
  });
  test('after a final failure, which says what to do', async () => {
    const failure = { code: 'too_long', message: 'It is over 1.5 hours long.', retryable: false };
    await expect(retried({ ...failed, failure })).rejects.toMatchObject({
      code: 'CONFLICT',
      message:
        'This asset cannot be retried: It is over 1.5 hours long. Upload a corrected file as a new asset.',
      details: { reason: 'too_long', retryable: false },
    });
  });
});

describe('a retry of a clip', () => {
  const clipOf = { id: '01900000-0000-7000-8000-00000000000a', start_ms: 0, end_ms: 1000 };
  const clip = { ...failed, ...refused, clip_of: clipOf };

  test('cuts it again, without an upload', async () => {
    const { calls, opened } = await retried(clip);
    const job = { name: 'clip-asset', payload: { assetId: clip.id, attempt: 2 } };
    expect(calls).toEqual([['reopen', expect.objectContaining({ job })]]);
    expect(opened).toMatchObject({ asset: { stream_status: 'pending_upload' }, target: null });
    const repeated = await retried(createVideo({ attempt: 2, clip_of: clipOf }));
    expect(repeated.opened.target).toBeNull();
  });

  test('is refused if its source is deleted', async () => {
    const failure = { code: 'clip_source_deleted', message: 'The video was deleted.', retryable: false };
    await expect(retried({ ...clip, failure })).rejects.toMatchObject({
      code: 'CONFLICT',
      details: { reason: 'clip_source_deleted' },
    });
  });
});
