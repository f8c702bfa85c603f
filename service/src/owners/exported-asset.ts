// The JSON of an exported asset: what callers set, and what the service found out.
import type { Asset, Caption } from '../assets/asset.ts';

type ExportedFile = { readonly path: string; readonly sha256: string };
type ExportedFiles = {
  /** Null where the service has no original: it never came, or a hosted provider has it. */
  readonly original: ExportedFile | null;
  readonly captions: readonly { readonly path: string; readonly caption: Caption }[];
};

export const toExportedAsset = (asset: Asset, { original, captions }: ExportedFiles) => ({
  id: asset.id,
  owner_user_id: asset.owner_user_id,
  kind: asset.kind,
  filename: asset.filename,
  content_type: asset.content_type,
  mime_type: asset.mime_type,
  visibility: asset.visibility,
  title: asset.title,
  tags: asset.tags,
  metadata: asset.metadata,
  external_id: asset.external_id,
  expires_at: asset.expires_at,
  legal_hold: asset.legal_hold,
  stream_status: asset.stream_status,
  failure: asset.failure,
  warnings: asset.warnings,
  provider: asset.provider,
  provider_video_id: asset.provider_video_id,
  size_bytes: asset.size_bytes,
  checksum_sha256: asset.checksum_sha256,
  width: asset.width,
  height: asset.height,
  duration_ms: asset.duration_ms,
  poster_time_ms: asset.poster_time_ms,
  focal_point: asset.focal_point,
  access: asset.access,
  chapters: asset.chapters,
  renditions: asset.renditions,
  media: asset.media,
  duplicate_of: asset.duplicate_of,
  clip_of: asset.clip_of,
  version: asset.version,
  revision: asset.revision,
  attempt: asset.attempt,
  playback_version: asset.playback_version,
  created_at: asset.created_at,
  uploaded_at: asset.uploaded_at,
  playable_at: asset.playable_at,
  ready_at: asset.ready_at,
  updated_at: asset.updated_at,
  deleted_at: asset.deleted_at,
  purge_at: asset.purge_at,
  original,
  captions: captions.map(toExportedCaption),
});

const toExportedCaption = ({ path, caption }: ExportedFiles['captions'][number]) => ({
  path,
  language: caption.language,
  label: caption.label,
  kind: caption.kind,
  is_default: caption.isDefault,
  is_embedded: caption.isEmbedded,
  updated_at: caption.updatedAt,
});
