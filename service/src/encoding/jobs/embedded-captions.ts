// Stores the subtitles and closed captions of a video as its captions.
import { WARNING_CODES } from '@mediary/contract/failures';
import type { Warning } from '../../assets/asset.ts';
import type { EncodingContext } from '../context.ts';
import { EncodeError, type EmbeddedSubtitles, type Encoder, type SubtitleRequest } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';

/**
 * Subtitles that cannot be read are a warning: the renditions are complete without captions. Closed captions
 * are no warning, because nothing tells whether the video has them.
 */
export async function storeEmbedded(
  ctx: EncodingContext,
  assetId: string,
  request: SubtitleRequest,
): Promise<readonly Warning[]> {
  const { encoder, captions, log } = ctx;
  const readOrLog = async (
    read: Encoder['extractSubtitles'],
    message: string,
  ): Promise<readonly EmbeddedSubtitles[] | undefined> => {
    try {
      return await read(request);
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      const { code } = error;
      log.warn({ asset_id: assetId, code, ffmpeg_log: excerptFfmpegLog(error.log) }, message);
      return undefined;
    }
  };
  const subtitles = await readOrLog(encoder.extractSubtitles, 'the subtitles of a video cannot be read');
  const closed = await readOrLog(
    encoder.extractClosedCaptions,
    'the closed captions of a video cannot be read',
  );
  const found = oneForEachLanguage([...(subtitles ?? []), ...(closed ?? [])]);
  // Captions of an earlier run stay where this one could read none.
  if (found.length > 0 || (subtitles && closed)) await captions.storeEmbeddedCaptions(assetId, found);
  if (subtitles) return [];
  return [{ code: 'subtitles_unreadable', message: WARNING_CODES.subtitles_unreadable }];
}

/** The first of a language: subtitles have better times and characters than closed captions. */
const oneForEachLanguage = (found: readonly EmbeddedSubtitles[]): readonly EmbeddedSubtitles[] =>
  found.filter(({ language }, index) => found.findIndex((other) => other.language === language) === index);
