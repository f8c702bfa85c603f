// Tries the video encoders of a GPU at start with a small encode, in the sandbox of real encodes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../platform/observability/logger.ts';
import { EncodeError } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import {
  H264_ENCODERS,
  HARDWARE_CANDIDATES,
  type HardwareEncoder,
  type VideoEncoderSetting,
} from '../plan/arguments/h264-encoders.ts';
import { rungOptions } from '../plan/arguments/rung-options.ts';
import { chooseLadder, type Rung } from '../plan/ladder/ladder.ts';
import { type FfmpegSetup, type Hardware, runStep } from './ffmpeg-session.ts';

/** Not so small that a GPU refuses the picture. */
const [TRIAL_RUNG] = chooseLadder({ width: 640, height: 360 }) as readonly [Rung, ...Rung[]];
const LIMITS = { wallMs: 20_000 };

/** The first encoder whose trial succeeds; undefined: encode in software. */
export async function chooseHardware(
  setting: VideoEncoderSetting,
  setup: FfmpegSetup,
  log: Logger,
): Promise<Hardware | undefined> {
  for (const encoder of HARDWARE_CANDIDATES[setting]) {
    const failure = await tryEncoder(encoder, setup);
    if (failure === undefined) {
      log.info({ video_encoder: encoder }, 'videos are encoded by hardware');
      return { encoder, onFailure: (text) => warn(log, encoder, text) };
    }
    log.warn({ video_encoder: encoder, ffmpeg_log: failure }, 'this hardware encoder cannot be used');
  }
  if (setting !== 'software')
    log.warn({ setting }, 'no hardware encoder of VIDEO_ENCODER works: videos are encoded in software');
  return undefined;
}

const warn = (log: Logger, encoder: HardwareEncoder, text: string): void =>
  log.warn(
    { video_encoder: encoder, ffmpeg_log: excerptFfmpegLog(text) },
    'the hardware encoder failed; the video is encoded in software',
  );

/** The options of a real encode that matter. */
function trialArguments(encoder: HardwareEncoder): string[] {
  const { device, upload } = H264_ENCODERS[encoder];
  return [
    ...device,
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error'],
    ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30'],
    ...['-filter_complex', `[0:v]format=yuv420p${upload ? `,${upload}` : ''}[v0]`],
    ...['-map', '[v0]', '-frames:v', '30', ...(upload ? [] : ['-pix_fmt', 'yuv420p'])],
    ...rungOptions(TRIAL_RUNG, { index: 0, threads: 1, encoder }),
    ...['-f', 'null', '-'],
  ];
}

/** Returns why it failed. */
async function tryEncoder(encoder: HardwareEncoder, setup: FfmpegSetup): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-trial-'));
  const request = { signal: AbortSignal.timeout(2 * LIMITS.wallMs) };
  try {
    const args = trialArguments(encoder);
    const end = await runStep({ ...setup, folder, request }, { args, limits: LIMITS });
    return end.code === 0 ? undefined : excerptFfmpegLog(end.log);
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    return error.message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
