// Job that examines an uploaded image and reports it as ready or failed.
import { createReadStream } from 'node:fs';
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { StreamReport } from '../lifecycle/decisions/stream-report.ts';
import type { JobPayloads } from '../jobs.ts';
import { toWarnings } from '@mediary/media-rules/warnings';
import type { JobRun } from '../platform/jobs/job-queue.ts';
import type { LocalFile } from '../storage/local-file.ts';
import type { ImagesContext } from './context.ts';
import type { ImageFacts } from './image-processor.ts';
import { deleteVariants, type ExaminationResult, examine } from './images.ts';

/** Idempotent: a retry after a crash produces the same result. */
export const processImageJob =
  (ctx: ImagesContext) =>
  async ({ payload: { assetId }, signal }: JobRun<JobPayloads['process-image']>): Promise<void> => {
    const { lifecycle, settings } = ctx;
    const found = await lifecycle.findAssetById(assetId);
    if (found?.stream_status !== 'processing' || found.deleted_at) return;
    // One read of the store serves the digest and the decoder.
    const verify = async (file: LocalFile) =>
      !(await lifecycle.verifyOriginal(found, { ...file, read: () => createReadStream(file.path) })).refused;
    const examined = await examine(ctx, found, { signal, verify });
    if (!examined) return;
    const applied = await lifecycle.applyReport(reportOf(examined, settings), { ref: found });
    if (applied?.reason === 'deleted_asset') await deleteVariants(ctx, assetId);
  };

const reportOf = (examination: ExaminationResult, settings: ImagesContext['settings']): StreamReport =>
  'facts' in examination
    ? ready(examination.facts, settings)
    : {
        source: 'service',
        provider: null,
        event: 'failed',
        failure: {
          code: examination.refused,
          message: FAILURE_CODES[examination.refused],
          retryable: examination.refused === 'too_demanding',
        },
      };

const ready = (
  { animated, alpha, isAnimationDropped, photo, ...media }: ImageFacts,
  { photoLocation }: ImagesContext['settings'],
): StreamReport => ({
  source: 'service',
  provider: null,
  event: 'succeeded',
  playback: { kind: 'image', animated, alpha },
  warnings: toWarnings({ isAnimationDropped }),
  media: { ...media, photo: photo && photoLocation === 'off' ? { ...photo, location: null } : photo },
});
