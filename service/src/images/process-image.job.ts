// Job that examines an uploaded image and reports it as ready or failed.
import type { Asset } from '../assets/asset.ts';
import type { Cause } from '../lifecycle/reports.ts';
import type { Outcome, StreamReport } from '../lifecycle/stream-report.ts';
import type { JobPayloads } from '../jobs.ts';
import type { JobRun } from '../platform/job-queue.ts';
import type { ImageFacts, ImageRefusal } from './image-processor.ts';

type ProcessNeeds = {
  readonly findAssetById: (id: string) => Promise<Asset | undefined>;
  readonly applyReport: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly examine: (asset: Asset) => Promise<Examination>;
  readonly deleteVariants: (assetId: string) => Promise<void>;
};

type Examination = { readonly facts: ImageFacts } | { readonly refused: ImageRefusal };

/** Idempotent: a retry after a crash produces the same result. */
export const processImageJob =
  ({ findAssetById: byId, applyReport: apply, examine, deleteVariants: remove }: ProcessNeeds) =>
  async ({ payload: { assetId } }: JobRun<JobPayloads['process-image']>): Promise<void> => {
    const asset = await byId(assetId);
    if (asset?.stream_status !== 'processing' || asset.deleted_at) return;
    const outcome = await apply(reportOf(await examine(asset)), { ref: { assetId } });
    if (outcome?.reason === 'deleted_asset') await remove(assetId);
  };

const reportOf = (examination: Examination): StreamReport =>
  'facts' in examination
    ? ready(examination.facts)
    : {
        source: 'service',
        provider: null,
        event: 'failed',
        failure: {
          code: examination.refused,
          message: MESSAGES[examination.refused],
          retryable: examination.refused === 'too_demanding',
        },
      };

const ready = ({ animated, alpha, ...media }: ImageFacts): StreamReport => ({
  source: 'service',
  provider: null,
  event: 'succeeded',
  playback: { kind: 'image', animated, alpha },
  media,
});

const MESSAGES: Readonly<Record<ImageRefusal, string>> = {
  not_media: 'The image cannot be decoded',
  truncated: 'The image is incomplete: its end is missing',
  too_large_picture: 'The image has too many pixels',
  too_demanding: 'The image needs more memory or time than allowed',
};
