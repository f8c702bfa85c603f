// Checks which part of a video a clip takes, describes the new asset, and estimates its size (contract B4).
import type { ClipSource } from '@mediary/contract/schemas/assets/clip-source';
import { type ClipRequest, MIN_CLIP_MS } from '@mediary/contract/schemas/clips';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import type { Asset } from '../../assets/asset.ts';
import { cutChapters } from '../../assets/chapters.ts';
import { badRequest, conflict, type ServiceError } from '../../platform/http/errors.ts';

type ClippedAsset = Pick<
  Asset,
  | 'id'
  | 'kind'
  | 'provider'
  | 'stream_status'
  | 'uploaded_at'
  | 'duration_ms'
  | 'filename'
  | 'access'
  | 'chapters'
>;

/** Throws CONFLICT for an asset that cannot be cut, and BAD_REQUEST with the field for another part. */
export function toClipSource(
  source: ClippedAsset,
  { start_ms: startMs, end_ms: endMs }: ClipRequest,
  isHosted: boolean,
): ClipSource {
  const durationMs = getDuration(source, isHosted);
  if (endMs > durationMs)
    throw badRequest(`end_ms is after the end of the video, at ${durationMs}`, {
      field: 'end_ms',
      reason: 'above_maximum',
      limit: durationMs,
    });
  if (endMs - startMs < MIN_CLIP_MS)
    throw badRequest(
      `end_ms must be at least ${MIN_CLIP_MS} ms after start_ms: the shortest clip has ${MIN_CLIP_MS} ms`,
      { field: 'end_ms', reason: 'below_minimum', limit: startMs + MIN_CLIP_MS },
    );
  return { id: source.id, start_ms: startMs, end_ms: endMs };
}

function getDuration(source: ClippedAsset, isHosted: boolean): number {
  const { kind, stream_status: status, uploaded_at: uploadedAt, duration_ms: durationMs } = source;
  if (kind !== 'video')
    throw conflict(`Only a video can be cut; this asset is of kind ${kind}`, { reason: 'not_video' });
  if (isHosted)
    throw conflict(
      `The provider ${source.provider} stores this video; only videos of provider onprem can be cut`,
      { reason: 'not_stored_here' },
    );
  if (status === 'pending_upload' || status === 'failed' || uploadedAt === null) throw notUsable(status);
  if (durationMs === null)
    throw conflict('The duration of this video is not known yet. Try again when it is ready.', {
      reason: 'duration_unknown',
    });
  return durationMs;
}

const notUsable = (status: Asset['stream_status']): ServiceError =>
  status === 'failed'
    ? conflict('A failed video cannot be cut', { reason: 'wrong_status', stream_status: status })
    : conflict('The upload of this video is not completed. Complete it, then cut the video.', {
        reason: 'not_uploaded',
      });

const MIME_TYPE = 'video/mp4';
const SUFFIX = '-clip.mp4';
const MAX_NAME_LENGTH = 255;

/** The clip as the request of an upload: with access rules and chapters of its source, or with others. */
export function toClipUpload(
  { filename, provider, access, chapters }: ClippedAsset,
  { start_ms, end_ms, ...fields }: ClipRequest,
): CreateUploadRequest {
  const cut = cutChapters(chapters, { start_ms, end_ms });
  return {
    filename: toClipName(filename),
    ...(provider !== null && { provider }),
    ...(access && { access }),
    ...(cut && { chapters: cut }),
    ...fields,
    mime_type: MIME_TYPE,
    content_type: MIME_TYPE,
  };
}

/** `launch.mov` becomes `launch-clip.mp4`. */
function toClipName(filename: string): string {
  const name = [...filename.replace(/\.[a-z0-9]{1,8}$/i, '')];
  return name.slice(0, MAX_NAME_LENGTH - SUFFIX.length).join('') + SUFFIX;
}

/** A cut in H.264 of high quality, as a multiple of the same part of a source with few bits. */
const MAX_GROWTH = 6;
const EXTRA_BYTES = 16 * 1024 ** 2;

/** The disk space that the cut needs in the scratch folder. */
export function estimateClipBytes(
  { size_bytes: size, duration_ms: duration }: Pick<Asset, 'size_bytes' | 'duration_ms'>,
  { start_ms: start, end_ms: end }: ClipSource,
  { isCopied }: { readonly isCopied: boolean },
): number {
  const sourceBytes = size ?? 0;
  const share = duration ? Math.min(1, (end - start) / duration) : 1;
  return (isCopied ? sourceBytes : 0) + Math.ceil(MAX_GROWTH * share * sourceBytes) + EXTRA_BYTES;
}
