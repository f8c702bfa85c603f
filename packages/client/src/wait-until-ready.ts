// Waits until an asset is ready: by events, else by requests that the service answers when it changes.
import type { Asset } from './api/assets.ts';
import type { TimelineEntry, TimelinePage } from './api/library.ts';
import type { Playback } from './api/playback.ts';
import { isTransient, retryDelayMs, sleep } from './backoff.ts';
import { withDeadline } from './request/deadline.ts';
import { AssetFailedError, MediaryError, TimeoutError } from './errors.ts';
import { streamEvents } from './events.ts';
import { assetPath } from './media.ts';
import { createPagedList } from './pages.ts';
import { readData } from './response.ts';
import type { Transport } from './transport.ts';

export type WaitOptions = {
  signal?: AbortSignal | undefined;
  /**
   * `playable`: a player can start, while further renditions are encoded. `ready`: all renditions exist, the
   * default. `extras`: also the MP4, M4A, storyboard and preview that the service makes after it
   * (`VIDEO_EXTRAS`). An asset of which it makes none of them only has to be ready. Pass `deadlineMs`: if
   * their job is cancelled or fails for good, the wait does not end.
   */
  until?: 'playable' | 'ready' | 'extras' | undefined;
  /** Time limit of the whole wait in milliseconds. Default: none. */
  deadlineMs?: number | undefined;
  /** Called with the asset whenever it has changed: see `progress`, `playback` and `renditions`. */
  onUpdate?: ((asset: Asset) => void) | undefined;
};

type Wait = {
  readonly transport: Transport;
  readonly path: string;
  readonly signal: AbortSignal;
  /** Reports the asset; true if the wait is over. Throws if it will never be. */
  readonly check: (asset: Asset) => Promise<boolean>;
};

const LONG_POLL_S = 30;
const LONG_POLL_TIMEOUT_MS = (LONG_POLL_S + 15) * 1000;
/** Between two polls of a service, or a proxy, that answers at once. */
const SHORTEST_POLL_MS = 1000;

/** An asset, so that a replacement which took over before the wait began is found too. */
export type AwaitedAsset = string | Pick<Asset, 'id' | 'version_of'>;

export async function waitUntilReady(
  transport: Transport,
  awaited: AwaitedAsset,
  options: WaitOptions = {},
): Promise<Asset> {
  const { signal, deadlineMs: limitMs = Number.POSITIVE_INFINITY, until = 'ready' } = options;
  const createError = () => new TimeoutError(`The asset was not ${WORDS[until]} within ${limitMs} ms.`);
  return withDeadline({ signal, limitMs, createError }, (ended) =>
    waitForAsset({ transport, signal: ended }, awaited, options),
  );
}

type WaitTarget = Omit<Wait, 'check'>;

async function waitForAsset(
  { transport, signal }: Omit<WaitTarget, 'path'>,
  awaited: AwaitedAsset,
  options: WaitOptions,
): Promise<Asset> {
  const { id, version_of: replaced } =
    typeof awaited === 'string' ? { id: awaited, version_of: null } : awaited;
  const target: WaitTarget = { transport, path: assetPath(id), signal };
  let replacedId = replaced;
  const check = createCheck(target, options);
  const wait: Wait = {
    ...target,
    check: (asset) => {
      replacedId = asset.version_of;
      return check(asset);
    },
  };
  try {
    return (await waitByEvents(wait)) ?? (await waitByPolling(wait));
  } catch (error) {
    if (!replacedId || !isGone(error)) throw error;
    return await findReplaced(transport, { id, replacedId, signal }, error);
  }
}

const WORDS = { playable: 'playable', ready: 'ready', extras: 'ready with its extras' } as const;

function createCheck(wait: WaitTarget, { onUpdate, until = 'ready' }: WaitOptions): Wait['check'] {
  let last = '';
  return async (asset) => {
    const text = JSON.stringify(asset);
    if (text !== last) onUpdate?.(asset);
    last = text;
    if (asset.deleted_at !== null) throw createDeletedError();
    if (asset.stream_status === 'failed') throw new AssetFailedError(asset);
    if (until === 'playable' && asset.playable_at !== null) return true;
    if (asset.stream_status !== 'ready' || isReplacement(asset)) return false;
    return until !== 'extras' || asset.provider !== 'onprem' || hasExtras(wait);
  };
}

/** It is deleted once its asset has its file. */
const isReplacement = ({ version_of: replaced }: Asset): boolean => Boolean(replaced);

type Replacement = { readonly id: string; readonly replacedId: string; readonly signal: AbortSignal };

/**
 * The asset that has the file of a replacement. Throws `error` if that was deleted without taking over, which
 * the back ends of pages do not tell.
 */
async function findReplaced(
  transport: Transport,
  { id, replacedId, signal }: Replacement,
  error: unknown,
): Promise<Asset> {
  const options = { signal };
  const pages = createPagedList<TimelineEntry, TimelinePage>((cursor) =>
    transport.request({
      method: 'GET',
      path: assetPath(replacedId, '/timeline'),
      query: { cursor },
      options,
    }),
  );
  const asset = await transport.request<Asset>({ method: 'GET', path: assetPath(replacedId), options });
  if (transport.isRelayed) return asset;
  for await (const { type, details } of pages)
    if (type === 'asset.replaced' && details['replacement_id'] === id) return asset;
  throw error;
}

const isGone = (error: unknown): boolean =>
  isDeleted(error) || (error instanceof MediaryError && error.status === 404);

const isDeleted = (error: unknown): boolean =>
  error instanceof MediaryError && error.errorCode === 'ASSET_DELETED';

/** True too where none will come. */
async function hasExtras({ transport, path, signal }: WaitTarget): Promise<boolean> {
  const request = { method: 'GET', path: `${path}/playback`, options: { signal } } as const;
  const playback = await transport.request<Playback>(request);
  return playback.kind === 'image' || !playback.extras_pending;
}

const createDeletedError = (cause?: unknown): MediaryError =>
  new MediaryError('The asset was deleted.', { errorCode: 'ASSET_DELETED', cause });

/** Undefined if there is no stream, or if it ended. */
async function waitByEvents(wait: Wait): Promise<Asset | undefined> {
  const { transport, path, signal } = wait;
  const seen = { isFound: false };
  try {
    for await (const item of streamEvents(transport, `${path}/events`, { signal })) {
      if (item.event?.type === 'asset.deleted') throw createDeletedError();
      // An event may be older than the asset is now.
      if (!item.event && item.position !== undefined) continue;
      const told = item.event?.asset;
      const asset = told?.stream_status === 'processing' ? told : await readAsset(wait, seen);
      if (await wait.check(asset)) return asset;
    }
  } catch (error) {
    signal.throwIfAborted();
    if (isVerdict(error)) throw error;
    // Streams are missing or blocked on this way; polling reports what else is wrong.
  }
  return undefined;
}

const isVerdict = (error: unknown): boolean =>
  !(error instanceof MediaryError) || error.errorCode === 'ASSET_FAILED' || isDeleted(error);

type Seen = { isFound: boolean };

async function readAsset({ transport, path, signal }: Wait, seen: Seen): Promise<Asset> {
  const asset = await transport
    .request<Asset>({ method: 'GET', path, options: { signal } })
    .catch((error) => {
      throw seen.isFound && error instanceof MediaryError && error.status === 404
        ? createDeletedError(error)
        : error;
    });
  seen.isFound = true;
  return asset;
}

async function waitByPolling(wait: Wait): Promise<Asset> {
  const { transport, path, signal, check } = wait;
  let etag: string | null = null;
  for (let failures = 0; ; ) {
    const startedAt = Date.now();
    try {
      const response = await transport.send({
        method: 'GET',
        path,
        query: etag === null ? {} : { wait: LONG_POLL_S },
        ...(etag !== null && { headers: { 'if-none-match': etag } }),
        options: { signal, timeoutMs: LONG_POLL_TIMEOUT_MS },
      });
      if (response.status === 404 && etag !== null) throw createDeletedError();
      const asset = response.status === 304 ? undefined : readData<Asset>(response);
      if (asset && (await check(asset))) return asset;
      if (asset) etag = response.header('etag');
      failures = 0;
      await sleep(Math.max(0, SHORTEST_POLL_MS - (Date.now() - startedAt)), signal);
    } catch (error) {
      signal.throwIfAborted();
      const isRetryable = isTransient(error) || transport.canRenewToken(error);
      if (!isRetryable || failures > transport.maxRetries) throw error;
      await sleep(retryDelayMs(failures, error), signal);
      failures += 1;
    }
  }
}
