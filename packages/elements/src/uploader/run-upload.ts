// Brings one file to a ready asset: sends its bytes, waits for the network, follows the encoding.
import { type Asset, AssetFailedError, isMediaryError, type UploadProgress } from '@mediary/client';
import { findDefect, learnLimits, typeOf } from './file-rules.ts';
import type { UploaderTexts } from './texts.ts';
import { showThumbnail } from './thumbnail.ts';
import type { UploadItem, UploadPhase } from './upload-item.ts';
import type { UploaderContext } from './uploader-context.ts';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** Without progress for so long, the speed is not shown. */
const STALL_MS = 3000;
/** How often the storage learns how far an upload is. */
const SAVE_EVERY_MS = 1000;

/** Ends when the asset is ready, or the item has failed or is cancelled. Never rejects. */
export async function runUpload(ctx: UploaderContext, item: UploadItem): Promise<void> {
  const { signal } = item.controller;
  const release = await ctx.memory().claim(item);
  if (!release) return failItem(ctx, item, new Error(ctx.texts().elsewhere));
  try {
    // It may have been removed from the list meanwhile.
    signal.throwIfAborted();
    ctx.memory().save(item);
    await repeatWhileOffline(ctx, item);
  } catch (error) {
    if (isOfOtherToken(item, error)) forgetItem(ctx, item);
    else if (!signal.aborted) failItem(ctx, item, error);
  } finally {
    release();
  }
}

/** An upload token reads its own uploads alone. Another page began this one, and the service encodes it. */
const isOfOtherToken = (item: UploadItem, error: unknown): boolean =>
  item.file === undefined && isMediaryError(error, 'upload_token_bounds');

/** Takes it from the list and from the storage. */
export function forgetItem(ctx: UploaderContext, item: UploadItem): void {
  ctx.memory().remove(item);
  ctx.items = ctx.items.filter((other) => other !== item);
  ctx.onChange();
}

async function repeatWhileOffline(ctx: UploaderContext, item: UploadItem): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const before = item.progress?.bytesSent ?? 0;
    try {
      if (!item.isUploaded) await sendBytes(ctx, item);
      await followEncoding(ctx, item);
      return;
    } catch (error) {
      if (item.controller.signal.aborted || !isLost(error)) throw error;
      if ((item.progress?.bytesSent ?? 0) > before) attempt = 0;
      changePhase(ctx, item, 'offline');
      await untilOnline(item, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt));
    }
  }
}

const LOST = ['CONNECTION_FAILED', 'TIMEOUT', 'UNAVAILABLE', 'RATE_LIMITED'] as const;

const isLost = (error: unknown): boolean => LOST.some((code) => isMediaryError(error, code));

/** Also ends after `longestMs`, because browsers do not notice every network. */
function untilOnline(item: UploadItem, longestMs: number): Promise<void> {
  const { signal } = item.controller;
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      window.removeEventListener('online', finish);
      signal.removeEventListener('abort', finish);
      item.wake = () => {};
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(finish, longestMs / 2 + (Math.random() * longestMs) / 2);
    window.addEventListener('online', finish);
    signal.addEventListener('abort', finish);
    item.wake = finish;
    if (signal.aborted) finish();
  });
}

/** The browser has lost its network: a request that hangs would hold the upload for a minute. */
export async function pauseOffline(ctx: UploaderContext, item: UploadItem): Promise<void> {
  if (item.phase !== 'uploading' || item.handle?.state !== 'uploading') return;
  const { handle } = item;
  handle.pause();
  changePhase(ctx, item, 'offline');
  await untilOnline(item, LONGEST_WAIT_MS).catch(() => {});
  if (handle.state !== 'paused') return;
  changePhase(ctx, item, 'waiting');
  handle.resume();
}

async function sendBytes(ctx: UploaderContext, item: UploadItem): Promise<void> {
  const { file, controller } = item;
  if (!file) throw new Error(ctx.texts().interrupted);
  changePhase(ctx, item, 'waiting');
  if (ctx.isInspecting() && item.assetId === undefined) {
    const { media } = ctx.connection();
    const defect = await findDefect(file, media, { texts: ctx.texts(), signal: controller.signal });
    controller.signal.throwIfAborted();
    if (defect !== undefined) throw new RefusedFileError(defect);
  }
  let savedAt = 0;
  const handle = ctx.connection().queue.add(file, {
    ...ctx.uploadOptions(),
    retryOf: item.isReopened ? item.assetId : undefined,
    mimeType: typeOf(file),
    signal: controller.signal,
    onAsset: (id) => {
      const isNew = item.assetId !== id;
      item.assetId = id;
      ctx.memory().save(item);
      if (isNew) ctx.emit('start', item);
    },
    onProgress: (progress) => {
      showProgress(ctx, item, progress);
      if (Date.now() - savedAt < SAVE_EVERY_MS) return;
      savedAt = Date.now();
      ctx.memory().save(item);
    },
  });
  item.handle = handle;
  const asset = await handle.done;
  const { id, version_of: versionOf } = asset;
  const uploaded = { isUploaded: true, isReopened: false, assetId: id, versionOf, asset };
  Object.assign(item, { handle: undefined, ...uploaded });
  ctx.memory().save(item);
  ctx.emit('uploaded', item);
}

function showProgress(ctx: UploaderContext, item: UploadItem, progress: UploadProgress): void {
  // An attempt that goes on starts at zero, until it knows what the target has stored.
  if (progress.bytesSent > 0 || !item.progress) item.progress = progress;
  if (item.handle?.state === 'uploading')
    changePhase(ctx, item, progress.phase === 'completing' ? 'completing' : 'uploading');
  if (progress.phase === 'uploading') ctx.emit('progress', item);
  clearTimeout(item.stallTimer);
  item.stallTimer = setTimeout(() => forgetPace(ctx, item), STALL_MS);
  ctx.onChange();
}

/** Requests are being repeated: the last speed says nothing any more. */
function forgetPace(ctx: UploaderContext, item: UploadItem): void {
  if (item.progress) item.progress = { ...item.progress, bytesPerSecond: null, secondsLeft: null };
  ctx.onChange();
}

async function followEncoding(ctx: UploaderContext, item: UploadItem): Promise<void> {
  const { assetId, controller } = item;
  if (assetId === undefined) return;
  const { media } = ctx.connection();
  const { signal } = controller;
  changePhase(ctx, item, 'encoding');
  const onUpdate = (asset: Asset): void => {
    item.asset = asset;
    changePhase(ctx, item, 'encoding');
    if (asset.stream_status === 'processing') ctx.emit('progress', item);
    ctx.onChange();
  };
  const awaited = { id: assetId, version_of: item.versionOf };
  item.asset = await media.waitUntilReady(awaited, { signal, onUpdate });
  item.assetId = item.asset.id;
  ctx.memory().remove(item);
  await showThumbnail(ctx, item);
  changePhase(ctx, item, 'ready');
  ctx.emit('ready', item);
}

function changePhase(ctx: UploaderContext, item: UploadItem, phase: UploadPhase): void {
  if (item.phase === phase) return;
  item.phase = phase;
  ctx.onChange(item);
}

export function failItem(ctx: UploaderContext, item: UploadItem, error: unknown): void {
  item.error = error;
  item.problem = describeProblem(error, ctx.texts());
  item.isRetryable = isWorthRetrying(error) && (item.file !== undefined || item.isUploaded);
  item.handle = undefined;
  learnLimits(ctx.rules, error);
  if (!item.isRetryable) ctx.memory().remove(item);
  changePhase(ctx, item, 'failed');
  ctx.emit('error', item);
}

function describeProblem(error: unknown, { problems, unexpected }: UploaderTexts): string {
  const known = isMediaryError(error)
    ? (problems[error.reason ?? ''] ?? problems[error.errorCode])
    : undefined;
  return known ?? (error instanceof Error && error.message !== '' ? error.message : unexpected);
}

/** The element itself refuses the file; nothing was sent. */
export class RefusedFileError extends Error {
  override readonly name = 'RefusedFileError';
}

/** A refusal of this file, or of these bytes, would come again. */
const REFUSALS = [400, 403, 413, 415];

function isWorthRetrying(error: unknown): boolean {
  if (error instanceof RefusedFileError) return false;
  if (error instanceof AssetFailedError) return error.asset.failure?.retryable === true;
  return !isMediaryError(error) || error.status === undefined || !REFUSALS.includes(error.status);
}

/** Another attempt of a failed asset keeps its bytes where the service lets the caller do so. */
export async function retryUpload(ctx: UploaderContext, item: UploadItem): Promise<void> {
  const { error, assetId } = item;
  Object.assign(item, { error: undefined, problem: undefined, phase: 'waiting' });
  item.controller = new AbortController();
  ctx.onChange(item);
  if (error instanceof AssetFailedError && assetId !== undefined) {
    const opened = await ctx
      .connection()
      .media.retry?.(assetId)
      .catch(() => undefined);
    item.isUploaded = opened?.upload === null;
    item.isReopened = opened !== undefined && !item.isUploaded;
    item.asset = undefined;
  }
  if (item.isUploaded || item.file) await runUpload(ctx, item);
  else changePhase(ctx, item, 'interrupted');
}
