// Decides whether the source of an adoption may be deleted: pure. What may be the only copy stays.
import type { Asset } from '../../assets/asset.ts';

type AdoptedAsset = Pick<
  Asset,
  'stream_status' | 'deleted_at' | 'refused' | 'original_upload' | 'size_bytes'
>;

/**
 * `wait`: the checks of the bytes have not ended. `keep`: they were refused, or the asset is deleted or has
 * another original.
 */
export function decideSourceEnd(
  asset: AdoptedAsset | undefined,
  uploadId: string,
): 'delete' | 'keep' | 'wait' {
  if (!asset || asset.deleted_at || asset.refused || asset.original_upload !== uploadId) return 'keep';
  return asset.stream_status === 'pending_upload' ? 'wait' : 'delete';
}
