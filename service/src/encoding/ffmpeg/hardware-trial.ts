// Tries the video encoders of a GPU at start with a small encode, in the sandbox of real encodes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../platform/observability/logger.ts';
import { EncodeError } from '../encoder.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import {
  HARDWARE_CANDIDATES,
  type HardwareEncoder,
  toHardwareArguments,
  type VideoEncoderSetting,
} from '../plan/arguments/hardware-arguments.ts';
import { type FfmpegSetup, type Hardware, runStep } from './ffmpeg-session.ts';

/** The options of a real encode that matter, in software; not so small that a GPU refuses the picture. */
const TRIAL = [
  ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error'],
  ...['-f', 'lavfi', '-i', 'testsrc2=size=640x360:rate=30'],
  ...['-filter_complex', '[0:v]format=yuv420p[v0]', '-map', '[v0]', '-frames:v', '30'],
  ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '23', '-pix_fmt', 'yuv420p', '-sc_threshold', '0'],
  ...['-b-pyramid', 'none', '-profile:v:0', 'main', '-maxrate:v:0', '700k', '-bufsize:v:0', '1400k'],
  ...['-f', 'null', '-'],
];
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

/** Returns why it failed. */
async function tryEncoder(encoder: HardwareEncoder, setup: FfmpegSetup): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-trial-'));
  const request = { signal: AbortSignal.timeout(2 * LIMITS.wallMs) };
  try {
    const args = toHardwareArguments(TRIAL, encoder);
    const end = await runStep({ ...setup, folder, request }, { args, limits: LIMITS });
    return end.code === 0 ? undefined : excerptFfmpegLog(end.log);
  } catch (error) {
    if (!(error instanceof EncodeError)) throw error;
    return error.message;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
