// Examines an uploaded picture: it becomes ready, with its size, placeholder and thumbnail, or failed with a reason.
import type { Asset } from '../assets/asset.ts';
import type { Outcome } from '../lifecycle/delivery.ts';
import type { Cause } from '../lifecycle/reports.ts';
import type { StreamReport } from '../lifecycle/stream-report.ts';
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/job-queue.ts';
import type { ImageFacts, ImageRefusal } from './image-processor.ts';

export type ProcessNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly applyReport: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly examine: (asset: Asset) => Promise<Seen>;
  readonly deleteVariants: (assetId: string) => Promise<void>;
};

type Seen = { readonly facts: ImageFacts } | { readonly refused: ImageRefusal };

/** Run again after a crash, it does the same once more. */
export const processImageJob =
  ({ findAssetById: byId, applyReport: apply, examine, deleteVariants: forget }: ProcessNeeds) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['process-image']>): Promise<void> => {
    const asset = await byId(assetId);
    if (asset?.stream_status !== 'processing' || asset.deleted_at) return;
    const outcome = await apply(reportOf(await examine(asset)), { ref: { assetId } });
    if (outcome?.reason === 'deleted_asset') await forget(assetId);
  };

const reportOf = (seen: Seen): StreamReport =>
  'facts' in seen
    ? ready(seen.facts)
    : {
        source: 'service',
        provider: null,
        event: 'failed',
        failure: {
          code: seen.refused,
          message: WORDS[seen.refused],
          retryable: seen.refused === 'too_demanding',
        },
      };

const ready = ({ animated, alpha, ...picture }: ImageFacts): StreamReport => ({
  source: 'service',
  provider: null,
  event: 'succeeded',
  playback: { kind: 'image', animated, alpha },
  picture,
});

const WORDS: Readonly<Record<ImageRefusal, string>> = {
  not_media: 'The picture cannot be decoded',
  truncated: 'The end of the picture is missing',
  too_large_picture: 'The picture has too many pixels',
  too_demanding: 'The picture needs more memory or time than a picture may take',
};
