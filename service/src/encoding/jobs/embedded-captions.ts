// Stores the text subtitles of a video as its captions. A video without them plays all the same.
import { WARNING_CODES } from '@mediary/contract/failures';
import type { Warning } from '../../assets/asset.ts';
import type { storeEmbeddedCaptions } from '../../captions/captions.ts';
import type { Bound } from '../../platform/bind.ts';
import { EncodeError, type Encoder, type SubtitleRequest } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';

export type EmbeddedCaptionNeeds = {
  readonly encoder: Pick<Encoder, 'extractSubtitles'>;
  readonly storeEmbeddedCaptions: Bound<typeof storeEmbeddedCaptions>;
  readonly log: { warn(facts: object, message: string): void };
};

/** A failure of ffmpeg is a warning: the renditions are complete without captions. */
export async function storeEmbedded(
  { encoder, storeEmbeddedCaptions: store, log }: EmbeddedCaptionNeeds,
  assetId: string,
  request: SubtitleRequest,
): Promise<readonly Warning[]> {
  try {
    await store(assetId, await encoder.extractSubtitles(request));
    return [];
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    log.warn(
      { asset_id: assetId, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) },
      'the subtitles of a video cannot be read',
    );
    return [{ code: 'subtitles_unreadable', message: WARNING_CODES.subtitles_unreadable }];
  }
}
