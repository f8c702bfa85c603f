// Uploads a file: creates the asset, sends the bytes in the way that the service offers, and completes.
import type { Asset } from '../api/assets.ts';
import type { OpenUpload, UploadTarget } from '../api/uploads.ts';
import { withRetries } from '../backoff.ts';
import { isMediaryError, MediaryError, UploadError } from '../errors.ts';
import type { Transport } from '../transport.ts';
import { computeSha256 } from './checksum.ts';
import { sendByMultipart } from './multipart-upload.ts';
import { chooseTarget, type NewUpload, openUpload, reopenUpload, toCallOptions } from './open-upload.ts';
import { sendByForm, sendByPut } from './put-upload.ts';
import {
  findDefaultStore,
  openResumeEntry,
  type ResumeEntry,
  type UnfinishedUpload,
} from './resume-store.ts';
import { createPace } from './pace.ts';
import { createByteSender } from './send-bytes.ts';
import type { Transfer } from './transfer.ts';
import { sendByTus } from './tus-upload.ts';
import type { UploadOptions, UploadProgress } from './upload-options.ts';

type Dependencies = Pick<NewUpload, 'calls' | 'versions'> & { readonly transport: Transport };
type Job = Dependencies &
  NewUpload & {
    readonly report: (phase: UploadProgress['phase'], bytesSent: number) => void;
    readonly entry: ResumeEntry;
  };

export async function uploadFile(
  dependencies: Dependencies,
  file: Blob,
  options: UploadOptions = {},
): Promise<Asset> {
  const { name: ownName } = file as { readonly name?: string };
  const filename = options.filename ?? ownName;
  if (filename === undefined) throw new TypeError('A Blob has no name. Pass `filename`.');
  const pace = createPace(file.size);
  const report: Job['report'] = (phase, bytesSent) =>
    options.onProgress?.({ bytesSent, totalBytes: file.size, phase, ...pace(phase, bytesSent) });
  report('preparing', 0);
  const checksum =
    options.checksum === true ? await computeSha256(file, options.signal) : options.checksum || undefined;
  const fingerprint = toFingerprint(dependencies, { file, filename, options, checksum });
  const resume = options.resume || {};
  const entry = openResumeEntry(resume.store ?? findDefaultStore(), fingerprint);
  try {
    return await run({ ...dependencies, file, filename, options, checksum, report, entry });
  } finally {
    entry.release();
  }
}

/** What makes two uploads the same one. */
function toFingerprint(
  { transport }: Dependencies,
  { file, filename, options, checksum }: Pick<Job, 'file' | 'filename' | 'options' | 'checksum'>,
): string | undefined {
  const { lastModified } = file as { readonly lastModified?: number };
  const key = options.resume === false ? undefined : (options.resume?.key ?? lastModified);
  if (key === undefined) return undefined;
  const { ownerUserId = transport.ownerUserId, provider, externalId, replaces, retryOf } = options;
  const { baseUrl } = transport;
  const named = [externalId, ...(replaces || retryOf ? [replaces, retryOf] : [])];
  return JSON.stringify([baseUrl, ownerUserId, provider, filename, file.size, key, checksum, ...named]);
}

async function run(job: Job): Promise<Asset> {
  const resumed = await resume(job);
  if (resumed) return resumed;
  const opened = await openUpload(job);
  job.options.onAsset?.(opened.asset_id);
  return opened.upload === null ? finishExisting(job, opened) : sendToTargets(job, opened);
}

async function sendToTargets(job: Job, opened: OpenUpload): Promise<Asset> {
  await send(job, { assetId: opened.asset_id, target: chooseTarget(opened, job) });
  return complete(job, opened.asset_id);
}

/** An earlier call may have left the upload without its completion, or let it expire. */
async function finishExisting(job: Job, opened: OpenUpload): Promise<Asset> {
  const asset = await readOpened(job, opened);
  const hasBytes = asset.uploaded_at !== null;
  if (asset.stream_status === 'pending_upload' && hasBytes) return complete(job, asset.id);
  if (asset.stream_status !== 'failed' || hasBytes || !asset.failure?.retryable) return asset;
  const reopened = await reopenUpload(job, asset.id).catch(undefinedIfRefused);
  if (!reopened) return asset;
  return reopened.upload === null ? readOpened(job, reopened) : sendToTargets(job, reopened);
}

/** Upload tokens do not open another attempt, nor do back ends that stand between. */
function undefinedIfRefused(error: unknown): undefined {
  if (error instanceof MediaryError && REFUSALS.includes(error.errorCode)) return undefined;
  throw error;
}

const REFUSALS: readonly MediaryError['errorCode'][] = ['FORBIDDEN', 'NOT_IMPLEMENTED'];

const readOpened = async (job: Job, { asset, asset_id: id }: OpenUpload): Promise<Asset> =>
  asset ?? job.calls.get(id, toCallOptions(job));

/** Continues an upload that an earlier call began; undefined if there is none, or none that can go on. */
async function resume(job: Job): Promise<Asset | undefined> {
  const unfinished = await job.entry.find();
  if (!unfinished) return undefined;
  const asset = await findUnfinished(job, unfinished.assetId);
  if (!asset) return forget(job);
  job.options.onAsset?.(asset.id);
  if (asset.stream_status !== 'pending_upload') {
    // The response to the completion was lost.
    job.report('completing', job.file.size);
    await job.entry.remove();
    return asset;
  }
  if (asset.uploaded_at === null && !(await sendRest(job, unfinished))) return forget(job);
  return complete(job, asset.id);
}

/** An expired access token rejects: after another login the upload can go on. */
async function findUnfinished(job: Job, id: string): Promise<Asset | undefined> {
  try {
    const asset = await job.calls.get(id, toCallOptions(job));
    return asset.stream_status === 'failed' || asset.deleted_at !== null ? undefined : asset;
  } catch (error) {
    if (hasStatus(error, 403, 404, 410)) return undefined;
    throw error;
  }
}

/** False if the target is gone, or its URL has expired. */
async function sendRest(job: Job, sending: UnfinishedUpload): Promise<boolean> {
  try {
    await send(job, sending);
    return true;
  } catch (error) {
    if (hasStatus(error, 401, 403, 404, 410)) return false;
    throw error;
  }
}

const hasStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  error instanceof MediaryError && error.status !== undefined && statuses.includes(error.status);

async function forget({ entry }: Job): Promise<undefined> {
  await entry.remove();
  return undefined;
}

async function send(job: Job, sending: UnfinishedUpload): Promise<void> {
  const { assetId, target } = sending;
  const { transport, file, filename, options, entry, report } = job;
  // A form is accepted once.
  if (target.protocol !== 'form') await entry.save(sending);
  report('uploading', 0);
  try {
    await sendTo(target, {
      file,
      filename,
      sendBytes: createByteSender(transport.customFetch),
      maxRetries: options.maxRetries ?? transport.maxRetries,
      signal: options.signal,
      onSent: (bytes) => report('uploading', bytes),
      resumeFrom: sending.reference,
      onResumable: (reference) => entry.save({ assetId, target, reference }),
    });
  } catch (error) {
    options.signal?.throwIfAborted();
    // An earlier request sent the bytes, and its response was lost.
    if (isMediaryError(error, 'already_uploaded')) return report('uploading', file.size);
    throw new UploadError(assetId, error);
  }
}

function sendTo(target: UploadTarget, transfer: Transfer): Promise<void> {
  if (target.protocol === 'put') return sendByPut(transfer, target);
  if (target.protocol === 'form') return sendByForm(transfer, target);
  if (target.protocol === 'tus') return sendByTus(transfer, target);
  return sendByMultipart(transfer, target);
}

async function complete(job: Job, assetId: string): Promise<Asset> {
  const { calls, transport, options, entry, report, file } = job;
  const { signal, maxRetries = transport.maxRetries } = options;
  report('completing', file.size);
  try {
    const asset = await withRetries({ maxRetries, signal, isRetryable: isNotUploaded }, () =>
      calls.complete(assetId, toCallOptions(job)),
    );
    await entry.remove();
    return asset;
  } catch (error) {
    signal?.throwIfAborted();
    // Refused bytes are refused again, as deleted assets are; other failures leave something to continue.
    if (hasStatus(error, 400, 404, 410) && !isNotUploaded(error)) await entry.remove();
    throw new UploadError(assetId, error);
  }
}

/** A video provider shows an upload a moment after it has accepted the last byte. */
const isNotUploaded = (error: unknown): boolean => isMediaryError(error, 'not_uploaded');
