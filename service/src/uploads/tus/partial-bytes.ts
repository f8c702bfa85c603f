// The bytes of a resumable upload as the store holds them: pure.
import { notFound } from '../../platform/http/errors.ts';
import { uploadKey } from '../../storage/object-key.ts';
import type { ObjectStore, PartialObject, PartialObjects } from '../../storage/object-store.ts';

export const partialOf = ({ partial }: Pick<ObjectStore, 'partial'>): PartialObjects => {
  if (!partial) throw notFound('This service takes no resumable uploads');
  return partial;
};

type UploadRow = {
  readonly id: string;
  readonly asset_id: string;
  readonly bytes_received: number;
  readonly target: unknown;
};

export const toPartial = ({
  id,
  asset_id: assetId,
  bytes_received: length,
  target: state,
}: UploadRow): PartialObject => ({ key: uploadKey(assetId, id), length, state });

/** Between two records of the offset: what a killed process may lose. A record costs two syncs. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

/** Up to where the next record is due. */
export const segmentBytesAt = (offset: number): number => SEGMENT_BYTES - (offset % SEGMENT_BYTES);
