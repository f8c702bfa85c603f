// The arguments and results that tools of assets share.
import type { Asset } from '@mediary/client';
import { z } from 'zod';

export const ownerUserId = z
  .string()
  .min(1)
  .max(255)
  .optional()
  .describe('The owner of the asset, with a service key. Default: MEDIARY_OWNER of this server.');

export const assetId = z.string().min(1).describe('The id of the asset, a UUID.');

/** Later versions of the service have further members. */
const members = {
  id: z.string(),
  owner_user_id: z.string(),
  kind: z.string(),
  filename: z.string(),
  title: z.string().nullable(),
  tags: z.array(z.string()),
  stream_status: z.string().describe('pending_upload, processing, ready or failed'),
  progress: z.number().describe('Percent of the encoding'),
};

/** An asset as `GET /api/v1/media/{id}` returns it. */
export const assetSchema = z.looseObject(members);

/** An asset of a list: without metadata, renditions and placeholder, which make lists long. */
export const summarySchema = z.looseObject(members);

export const toSummary = (asset: Asset) => ({
  id: asset.id,
  external_id: asset.external_id,
  owner_user_id: asset.owner_user_id,
  kind: asset.kind,
  filename: asset.filename,
  title: asset.title,
  tags: asset.tags,
  stream_status: asset.stream_status,
  progress: asset.progress,
  playable_at: asset.playable_at,
  failure: asset.failure,
  visibility: asset.visibility,
  mime_type: asset.mime_type,
  size_bytes: asset.size_bytes,
  width: asset.width,
  height: asset.height,
  duration_ms: asset.duration_ms,
  provider: asset.provider,
  created_at: asset.created_at,
  expires_at: asset.expires_at,
  deleted_at: asset.deleted_at,
});
