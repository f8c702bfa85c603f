// Stores the text subtitles of a video as its captions. A video without them plays all the same.
import type { storeEmbeddedCaptions } from '../../captions/captions.ts';
import type { Bound } from '../../platform/bind.ts';
import { EncodeFailed, type Encoder, type SubtitleRequest } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';

export type EmbeddedCaptionNeeds = {
  readonly encoder: Pick<Encoder, 'extractSubtitles'>;
  readonly storeEmbeddedCaptions: Bound<typeof storeEmbeddedCaptions>;
  readonly log: { warn(facts: object, message: string): void };
};

/** Failures of ffmpeg are logged: the renditions are complete without captions. */
export async function storeEmbedded(
  { encoder, storeEmbeddedCaptions: store, log }: EmbeddedCaptionNeeds,
  assetId: string,
  request: SubtitleRequest,
): Promise<void> {
  try {
    await store(assetId, await encoder.extractSubtitles(request));
  } catch (error) {
    if (!(error instanceof EncodeFailed)) throw error;
    log.warn(
      { asset_id: assetId, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) },
      'the subtitles of a video cannot be read',
    );
  }
}
