// Decodes an uploaded picture once: its size becomes known and the asset ready, or failed with a reason.
import type { Asset } from '../assets/asset.ts';
import type { Outcome } from '../assets/delivery.ts';
import type { Cause } from '../assets/reports.ts';
import type { StreamReport } from '../assets/stream-report.ts';
import type { JobPayloads } from '../job-list.ts';
import type { JobRun } from '../platform/jobs.ts';
import { originalKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { ImageProcessor, ImageResult } from './image-processor.ts';

export type ImageNeeds = {
  readonly byId: (id: string) => Promise<Asset | undefined>;
  readonly apply: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly store: ObjectStore;
  readonly processor: ImageProcessor;
};

/** A picture that fills more is no picture that we decode in memory. */
const MAX_BYTES = 256 * 1024 * 1024;

export const processImageJob = ({ byId, apply, store, processor }: ImageNeeds) => async ({ payload: { assetId } }: JobRun<JobPayloads['process-image']>): Promise<void> => {
  const asset = await byId(assetId);
  if (asset?.stream_status !== 'processing' || asset.deleted_at) return;
  const result: ImageResult = (asset.size_bytes ?? 0) > MAX_BYTES
    ? { refused: 'too_large_picture' }
    : await processor.look(Buffer.concat(await store.stream(originalKey(assetId)).toArray()));
  await apply(reportOf(result), { ref: { assetId } });
};

const reportOf = (result: ImageResult): StreamReport => 'facts' in result
  ? { source: 'service', provider: null, event: 'succeeded', picture: result.facts }
  : { source: 'service', provider: null, event: 'failed', failure: { code: result.refused, message: WORDS[result.refused], retryable: false } };

const WORDS = {
  not_media: 'The picture cannot be decoded',
  truncated: 'The end of the picture is missing',
  too_large_picture: 'The picture has too many pixels',
} as const;
