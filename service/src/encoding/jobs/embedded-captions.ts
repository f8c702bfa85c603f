// Stores the text subtitles of a video as its captions. A video without them plays all the same.
import { WARNING_CODES } from '@mediary/contract/failures';
import type { Warning } from '../../assets/asset.ts';
import type { EncodingContext } from '../context.ts';
import { EncodeError, type SubtitleRequest } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';

/** A failure of ffmpeg is a warning: the renditions are complete without captions. */
export async function storeEmbedded(
  { encoder, captions, log }: EncodingContext,
  assetId: string,
  request: SubtitleRequest,
): Promise<readonly Warning[]> {
  try {
    await captions.storeEmbeddedCaptions(assetId, await encoder.extractSubtitles(request));
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
