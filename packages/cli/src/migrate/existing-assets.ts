// The assets of the owner that belong to a source: `external_id` is the only record of a migration.
import type { Client } from '../client.ts';
import { toExternalId } from './import-request.ts';
import type { FoundAsset } from './item-report.ts';
import type { SourceName } from './source.ts';

export type ExistingAssets = {
  /** Also finds an asset whose video this service has uploaded to the source itself. */
  readonly find: (sourceId: string) => FoundAsset | undefined;
};

const PAGE_SIZE = 200;

/** Reads the whole library once, which takes fewer requests than one for each item. */
export async function readExistingAssets(
  { mediary, options }: Client,
  source: SourceName,
): Promise<ExistingAssets> {
  const byExternalId = new Map<string, FoundAsset>();
  const byVideo = new Map<string, FoundAsset>();
  for await (const asset of mediary.media.list({ limit: PAGE_SIZE }, options)) {
    const { external_id: externalId, provider, provider_video_id: video, stream_status: status } = asset;
    if (externalId?.startsWith(`${source}:`)) byExternalId.set(externalId, toFound(asset));
    if (provider === source && video !== null && status !== 'failed') byVideo.set(video, toFound(asset));
  }
  return { find: (id) => byExternalId.get(toExternalId(source, id)) ?? byVideo.get(id) };
}

/** Whole assets of a large library would fill the memory. */
const toFound = (asset: FoundAsset): FoundAsset => ({
  id: asset.id,
  kind: asset.kind,
  provider: asset.provider,
  stream_status: asset.stream_status,
  failure: asset.failure,
  size_bytes: asset.size_bytes,
  checksum_sha256: asset.checksum_sha256,
  duration_ms: asset.duration_ms,
  uploaded_at: asset.uploaded_at,
});
