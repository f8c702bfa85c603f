// Builds the row of an asset from its files in an archive: pure.
import type { ArchivedAsset } from '@mediary/contract/schemas/admin/owner-archive';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import { type Asset, type Caption, isPurged } from '../../assets/asset.ts';
import type { HistoryEvent } from '../../assets/asset-event.ts';
import { parseLabel } from '../../captions/caption-request.ts';
import { badRequest, conflict, type ServiceError } from '../../platform/http/errors.ts';
import { timeOf } from '../../platform/values/uuid.ts';
import type { NewUpload } from '../../uploads/upload-request.ts';

const ENCODED_HERE = 'onprem';
const DAY_MS = 86_400_000;

/** Throws BAD_REQUEST for an asset that cannot be restored under this id and owner. */
export function assertRestorable(
  { id, owner_user_id: owner, provider, created_at: created, original }: ArchivedAsset,
  expected: { readonly id: string; readonly owner: string; readonly now: Date },
): void {
  if (id !== expected.id) throw invalid('asset.json has another id than its folder.');
  if (owner !== expected.owner)
    throw badRequest(`asset.json belongs to another owner than "${expected.owner}".`, {
      reason: 'archive_other_owner',
    });
  const createdAt = timeOf(id);
  if (createdAt.getTime() > expected.now.getTime() + DAY_MS)
    throw invalid(`The id of the asset is from the future: ${createdAt.toISOString()}.`);
  if (Math.abs(createdAt.getTime() - Date.parse(created)) > DAY_MS)
    throw invalid('created_at does not fit the time in the id of the asset.');
  if (provider !== null && provider !== ENCODED_HERE)
    throw noOriginal(`The video is at the provider ${JSON.stringify(provider)}, which keeps the original.`);
  if (original === null)
    throw noOriginal('The archive has no original: its upload did not end, or its bytes were refused.');
}

const invalid = (message: string): ServiceError => badRequest(message, { reason: 'asset_invalid' });
const noOriginal = (message: string): ServiceError => badRequest(message, { reason: 'no_original' });

/** As for an upload. Images ignore the provider, and a held asset may have expired. */
export const toUploadRequest = (about: ArchivedAsset): CreateUploadRequest => ({
  filename: about.filename,
  content_type: about.content_type,
  mime_type: about.mime_type,
  visibility: about.visibility,
  ...(about.title !== undefined && { title: about.title }),
  ...(about.tags && { tags: about.tags }),
  ...(about.metadata !== undefined && { metadata: about.metadata }),
  ...(about.external_id !== undefined && { external_id: about.external_id }),
  ...(about.focal_point !== undefined && { focal_point: about.focal_point }),
  ...(about.access !== undefined && { access: about.access }),
  ...(about.chapters !== undefined && { chapters: about.chapters }),
  ...(about.expires_at && !about.legal_hold && { expires_at: about.expires_at }),
  provider: ENCODED_HERE,
});

/** The files of the asset, as the service has stored them. */
type RestoredFiles = {
  readonly original: { readonly uploadId: string; readonly sizeBytes: number; readonly sha256: string };
  readonly captions: readonly Caption[];
  readonly history: readonly HistoryEvent[];
};
type RestoreOptions = RestoredFiles & {
  readonly upload: NewUpload;
  readonly owner: string;
  readonly duplicateOf: string | null;
  readonly now: Date;
  readonly trashDays: number;
};

/** The asset before its processing starts. Time in the trash starts again. */
export function toRestoredAsset(about: ArchivedAsset, options: RestoreOptions): Asset {
  const { upload, owner, original, captions, history, duplicateOf, now, trashDays } = options;
  const deletedAt = about.deleted_at === null ? null : earlier(about.deleted_at, now);
  return {
    ...UNPROCESSED,
    ...upload,
    id: about.id,
    owner_user_id: owner,
    expires_at: about.expires_at ? new Date(about.expires_at) : null,
    legal_hold: about.legal_hold,
    size_bytes: original.sizeBytes,
    checksum_sha256: original.sha256,
    uploaded_at: earlier(about.uploaded_at ?? about.created_at, now),
    original_upload: original.uploadId,
    // Tokens, and files of runs in caches, are those of the asset before its erasure.
    attempt: about.attempt + 1,
    playback_version: about.playback_version + 1,
    poster_time_ms: upload.kind === 'video' ? about.poster_time_ms : null,
    version: about.version,
    revision: history.reduce((last, { revision }) => Math.max(last, revision), about.revision) + 1,
    created_at: new Date(about.created_at),
    updated_at: now,
    deleted_at: deletedAt,
    purge_at: deletedAt && new Date(now.getTime() + trashDays * DAY_MS),
    duplicate_of: duplicateOf,
    clip_of: about.clip_of,
    captions: captions.length > 0 ? captions : null,
  };
}

const earlier = (time: string, now: Date): Date => new Date(Math.min(Date.parse(time), now.getTime()));

const UNPROCESSED = {
  upload_expires_at: null,
  stream_status: 'pending_upload',
  progress: 0,
  renditions: [],
  warnings: [],
  failure: null,
  refused: false,
  playback: null,
  playable_at: null,
  ready_at: null,
  width: null,
  height: null,
  duration_ms: null,
  placeholder: null,
  media: null,
  encode_run: 0,
  encoded_run: 0,
  encode_interruptions: 0,
  delayed_attempt: 0,
  settled: false,
  reconcile_at: null,
  previous_version: null,
} as const satisfies Partial<Asset>;

/** The stored captions with what `asset.json` says about them. Throws BAD_REQUEST if it names other files. */
export function toRestoredCaptions(about: ArchivedAsset, stored: readonly Caption[]): Caption[] {
  const byLanguage = new Map(stored.map((caption) => [caption.language, caption]));
  let hasDefault = false;
  const captions = about.captions.flatMap((named) => {
    const file = byLanguage.get(named.language);
    if (!file || !byLanguage.delete(named.language)) return [];
    const isDefault = named.is_default && !hasDefault;
    hasDefault ||= isDefault;
    return [
      {
        ...file,
        label: parseLabel(named.label, named.language),
        kind: named.kind,
        isDefault,
        isEmbedded: named.is_embedded,
        updatedAt: named.updated_at,
      },
    ];
  });
  if (captions.length === stored.length && captions.length === about.captions.length) return captions;
  throw invalid('asset.json names other captions than the archive has.');
}

type ArchivedOriginal = { readonly sha256: string; readonly sizeBytes: number };

/** Throws CONFLICT unless the existing asset is the owner's, and has the original of the archive. */
export function assertSameAsset(
  existing: Asset,
  owner: string,
  original: ArchivedOriginal | undefined,
): void {
  if (existing.owner_user_id !== owner)
    throw conflict('Another owner has an asset with this id.', { reason: 'asset_id_taken' });
  if (isPurged(existing))
    throw conflict('The asset was deleted for good on this service.', { reason: 'asset_deleted' });
  const { checksum_sha256: sha256, size_bytes: sizeBytes } = existing;
  const isSame = sha256 === null ? sizeBytes === original?.sizeBytes : sha256 === original?.sha256;
  if (original && !isSame)
    throw conflict('The owner has an asset with this id and another original.', { reason: 'asset_differs' });
}
