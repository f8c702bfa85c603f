// Readers of the settings of videos.
import { readLadder } from './config-ladder.ts';
import type { UploadSizes } from './config-readers.ts';
import { VIDEO_EXTRAS, type VideoExtra } from './assets/video-extras.ts';
import type { VideoEncoderSetting } from './encoding/plan/arguments/hardware-arguments.ts';
import type { Ladder } from './encoding/plan/ladder/ladder.ts';
import { SEGMENT_SECONDS } from './encoding/plan/ladder/source-copy.ts';
import type { Settings } from './platform/settings.ts';

export type MediaSettings = UploadSizes & VideoSettings;

type VideoSettings = {
  /** The files that are made beside the renditions of a video. */
  readonly videoExtras: readonly VideoExtra[];
  /** Concurrent encodes in this process; undefined: depends on the number of cores. */
  readonly encodeConcurrency: number | undefined;
  /** Length of the chunks in which all workers encode a long video; 0: each video is encoded in one piece. */
  readonly encodeChunkSeconds: number;
  readonly videoEncoder: VideoEncoderSetting;
  readonly ladder: Ladder;
};

const NONE = 'none';

export const readVideoSettings = (settings: Settings): VideoSettings => ({
  videoExtras: readVideoExtras(settings),
  encodeConcurrency: readEncodeConcurrency(settings),
  encodeChunkSeconds: readChunkSeconds(settings),
  videoEncoder: settings.oneOf('VIDEO_ENCODER', ['software', 'auto', 'vaapi', 'nvenc'], 'software'),
  ladder: readLadder(settings),
});

function readVideoExtras({ list, problems }: Settings): readonly VideoExtra[] {
  const named = list('VIDEO_EXTRAS');
  if (named.length === 0) return VIDEO_EXTRAS;
  if (named.length === 1 && named[0] === NONE) return [];
  const videoExtras = VIDEO_EXTRAS.filter((extra) => named.includes(extra));
  if (videoExtras.length !== new Set(named).size)
    problems.push(`VIDEO_EXTRAS may list ${VIDEO_EXTRAS.join(', ')}, or be ${NONE}`);
  return videoExtras;
}

const readEncodeConcurrency = ({ text, integer }: Settings): number | undefined =>
  text('ENCODE_CONCURRENCY') === undefined
    ? undefined
    : integer('ENCODE_CONCURRENCY', { fallback: 1, min: 1, max: 64 });

/** Chunks are whole segments. */
function readChunkSeconds({ integer, problems }: Settings): number {
  const seconds = integer('ENCODE_CHUNK_S', { fallback: 60, min: 0, max: 3600 });
  if (seconds % SEGMENT_SECONDS === 0) return seconds;
  problems.push(`ENCODE_CHUNK_S must be 0 or a multiple of ${SEGMENT_SECONDS}`);
  return 0;
}
