// Receives the files of an asset in an archive: stores its bytes, and validates what its JSON says.
import { randomUUID } from 'node:crypto';
import { ArchivedAsset, ArchivedEvent } from '@mediary/contract/schemas/admin/owner-archive';
import type { Asset, Caption } from '../../assets/asset.ts';
import type { HistoryEvent } from '../../assets/asset-event.ts';
import { isPlainJson } from '../../assets/text-limits.ts';
import { parseLanguage } from '../../captions/caption-request.ts';
import type { TarEntry } from '../../platform/archive/tar-reader.ts';
import { diskFull } from '../../platform/disk/free-space.ts';
import {
  badRequest,
  invalidMembers,
  payloadTooLarge,
  type ServiceError,
} from '../../platform/http/errors.ts';
import { createInvalidMemberFinder } from '../../platform/http/invalid-members.ts';
import { uploadKey } from '../../storage/object-key.ts';
import { ObjectStoreError } from '../../storage/object-store.ts';
import type { OwnersContext } from '../context.ts';
import type { FolderFile } from './archive-reader.ts';

type StoredOriginal = Readonly<Record<'uploadId' | 'sha256', string>> & { readonly sizeBytes: number };

/** The files of one asset, as they arrive. */
export type AssetFolder = {
  readonly assetId: string;
  /** The asset with this id that the service has already. */
  readonly existing: Asset | undefined;
  /** Why the asset is not imported. Its further files are read and dropped. */
  refusal: ServiceError | undefined;
  readonly files: { readonly path: string; readonly sha256: string; readonly sizeBytes: number }[];
  original: StoredOriginal | undefined;
  about: ArchivedAsset | undefined;
  readonly captions: Caption[];
  readonly history: HistoryEvent[];
  historyBytes: number;
  /** The row of the asset may name its files already. */
  isCommitting: boolean;
};

const MAX_JSON_BYTES = 1024 * 1024;
/** Escaped text is up to five times as long as the upload. */
const MAX_CAPTION_BYTES = 8 * 1024 * 1024;
/** A timeline is in memory until its asset is stored. */
const MAX_HISTORY_BYTES = 32 * 1024 * 1024;

/** Throws ServiceError for a file that no upload may have either. */
export async function receiveFile(ctx: OwnersContext, folder: AssetFolder, file: FolderFile): Promise<void> {
  if (file.kind === 'original') folder.original = await storeOriginal(ctx, folder, file.entry);
  if (file.kind === 'captions') folder.captions.push(await storeCaptions(ctx, folder, file));
  if (file.kind === 'events') await readEvents(folder, file.entry);
  if (file.kind === 'about') folder.about = await readJson<ArchivedAsset>(file.entry, findInvalidAsset);
}

async function storeOriginal(
  { store, settings: { maxUploadBytes } }: OwnersContext,
  { assetId }: AssetFolder,
  { sizeBytes, bytes }: TarEntry,
): Promise<StoredOriginal> {
  if (sizeBytes > maxUploadBytes)
    throw payloadTooLarge(`The original is larger than the maximum of ${maxUploadBytes} bytes`, {
      field: 'original',
      limit: maxUploadBytes,
    });
  const uploadId = randomUUID();
  const stored = await store.put(uploadKey(assetId, uploadId), bytes, sizeBytes).catch((error: unknown) => {
    throw toSourceError(error);
  });
  return { uploadId, sizeBytes: stored.sizeBytes, sha256: stored.sha256 };
}

/** The store wraps the error of the archive that it reads from. */
function toSourceError(error: unknown): unknown {
  if (!(error instanceof ObjectStoreError)) return error;
  if (error.reason === 'cut_short') return error.cause;
  return error.reason === 'full' ? diskFull('object store', error) : error;
}

/** Label and kind follow in `asset.json`. */
async function storeCaptions(
  { captions }: OwnersContext,
  { assetId }: AssetFolder,
  { language, entry }: FolderFile & { readonly kind: 'captions' },
): Promise<Caption> {
  if (parseLanguage(language) !== language)
    throw invalidAsset(`${entry.name} does not have the canonical form of a language tag in its name.`);
  const bytes = await readSmall(entry, MAX_CAPTION_BYTES);
  return captions.storeArchivedCaption(assetId, { language, label: '', kind: 'subtitles', bytes });
}

async function readEvents(folder: AssetFolder, entry: TarEntry): Promise<void> {
  folder.historyBytes += entry.sizeBytes;
  if (folder.historyBytes > MAX_HISTORY_BYTES)
    throw payloadTooLarge(`The timeline is larger than the maximum of ${MAX_HISTORY_BYTES} bytes`, {
      field: 'events',
      limit: MAX_HISTORY_BYTES,
    });
  const lines = (await readText(entry, MAX_HISTORY_BYTES)).split('\n').filter(Boolean);
  for (const line of lines) folder.history.push(toHistoryEvent(parseJson(entry.name, line)));
}

function toHistoryEvent(value: unknown): HistoryEvent {
  const event = validate<ArchivedEvent>(value, findInvalidEvent);
  if (!isPlainJson(event.data)) throw invalidAsset('The timeline has text that cannot be stored.');
  const { id, type, data, revision } = event;
  return { id, type, data, revision, created_at: new Date(event.created_at) };
}

type FindInvalid = ReturnType<typeof createInvalidMemberFinder>;
const findInvalidAsset = createInvalidMemberFinder(ArchivedAsset);
const findInvalidEvent = createInvalidMemberFinder(ArchivedEvent);

/** Throws BAD_REQUEST for a file that does not have the form of its schema. */
export async function readJson<T>(entry: TarEntry, findInvalid: FindInvalid): Promise<T> {
  return validate<T>(parseJson(entry.name, await readText(entry)), findInvalid);
}

function validate<T>(value: unknown, findInvalid: FindInvalid): T {
  const members = findInvalid(value);
  if (members.length > 0) throw invalidMembers(members);
  return value as T;
}

const invalidAsset = (message: string): ServiceError => badRequest(message, { reason: 'asset_invalid' });

async function readSmall({ name, sizeBytes, bytes }: TarEntry, maxBytes: number): Promise<Buffer> {
  if (sizeBytes > maxBytes)
    throw payloadTooLarge(`${name} is larger than the maximum of ${maxBytes} bytes`, { limit: maxBytes });
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Throws BAD_REQUEST for bytes that are not UTF-8. */
export async function readText(entry: TarEntry, maxBytes = MAX_JSON_BYTES): Promise<string> {
  const bytes = await readSmall(entry, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidAsset(`${entry.name} is not valid UTF-8.`);
  }
}

function parseJson(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidAsset(`${name} is not valid JSON.`);
  }
}
