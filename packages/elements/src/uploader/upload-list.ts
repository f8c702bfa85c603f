// The list of files and what people do with it: add, pause, resume, cancel, try again, choose again.
import { findRefusal } from './file-rules.ts';
import {
  failItem,
  forgetItem,
  pauseOffline,
  RefusedFileError,
  retryUpload,
  runUpload,
} from './run-upload.ts';
import { createItem, isSameFile, type UploadItem } from './upload-item.ts';
import type { UploaderContext } from './uploader-context.ts';

/** A file of an interrupted upload continues it; one that is being sent already is not added. */
export function addFiles(ctx: UploaderContext, files: readonly File[]): void {
  for (const file of files) {
    const known = ctx.items.find((item) => isSameFile(item, file) && item.phase !== 'ready');
    if (known?.phase === 'interrupted') continueUpload(ctx, known, file);
    else if (!known || known.phase === 'failed') addFile(ctx, file);
  }
}

function addFile(ctx: UploaderContext, file: File): void {
  const texts = ctx.texts();
  const isFull = ctx.items.filter(({ phase }) => phase !== 'failed').length >= ctx.maxFiles();
  const refusal = isFull ? texts.tooMany(file.name, ctx.maxFiles()) : findRefusal(file, ctx.rules, texts);
  if (refusal === undefined) startFile(ctx, file);
  else refuseFile(ctx, file, refusal);
}

function startFile(ctx: UploaderContext, file: File): void {
  const item = createItem(file, { file });
  // One that failed before is tried anew.
  ctx.items = [item, ...ctx.items.filter((other) => !isSameFile(other, file) || other.phase === 'ready')];
  ctx.onChange();
  void runUpload(ctx, item);
}

/** Shows a file that is not sent, with the sentence that says why. */
function refuseFile(ctx: UploaderContext, file: File, sentence: string): void {
  const item = createItem(file, { file });
  ctx.items = [item, ...ctx.items.filter((other) => !isSameFile(other, file) || other.phase !== 'failed')];
  failItem(ctx, item, new RefusedFileError(sentence));
}

export const refuseFolder = (ctx: UploaderContext, name: string): void =>
  refuseFile(ctx, new File([], name), ctx.texts().isFolder(name));

/** `file`: chosen for the row of an upload that was interrupted. */
export function continueUpload(ctx: UploaderContext, item: UploadItem, file: File): void {
  const isIt = isSameFile(item, file);
  if (isIt) Object.assign(item, { file, problem: undefined, phase: 'waiting' });
  else item.problem = ctx.texts().otherFile(item.name);
  ctx.onChange(item);
  if (isIt) void runUpload(ctx, item);
}

/** Lists what an earlier page did not finish; what only has to be encoded is followed at once. */
export async function restoreUploads(ctx: UploaderContext): Promise<void> {
  for (const entry of await ctx.memory().list()) {
    if (ctx.items.some((item) => isSameFile(item, entry))) continue;
    const { bytesSent, assetId, isUploaded, versionOf = null } = entry;
    const phase = isUploaded ? 'encoding' : 'interrupted';
    const item = createItem(entry, { phase, bytesBefore: bytesSent, assetId, isUploaded, versionOf });
    ctx.items = [...ctx.items, item];
    ctx.onChange(item);
    if (isUploaded) void runUpload(ctx, item);
  }
}

export function pauseUpload(ctx: UploaderContext, item: UploadItem): void {
  item.handle?.pause();
  if (item.handle?.state !== 'paused') return;
  item.phase = 'paused';
  ctx.onChange(item);
}

/** Ends a pause, or a wait for the network. */
export function resumeUpload(ctx: UploaderContext, item: UploadItem): void {
  item.wake();
  if (item.phase !== 'paused') return;
  item.phase = 'waiting';
  item.handle?.resume();
  ctx.onChange(item);
}

export function retryFailed(ctx: UploaderContext, item: UploadItem): void {
  void retryUpload(ctx, item);
}

/** Takes it from the list. One that sends bytes ends; one that is encoded becomes ready without the page. */
export function removeItem(ctx: UploaderContext, item: UploadItem): void {
  item.handle?.cancel();
  item.controller.abort(new DOMException('The upload was cancelled.', 'AbortError'));
  forgetItem(ctx, item);
}

/** Until the returned function is called: a lost network pauses uploads, and a page that goes saves them. */
export function followPage(ctx: UploaderContext): () => void {
  const ending = new AbortController();
  const onEach = (type: string, act: (item: UploadItem) => void): void =>
    window.addEventListener(type, () => ctx.items.forEach(act), { signal: ending.signal });
  onEach('offline', (item) => void pauseOffline(ctx, item));
  onEach('pagehide', (item) => {
    // What is saved is up to a second old.
    if (item.handle) ctx.memory().save(item);
  });
  return () => ending.abort();
}
