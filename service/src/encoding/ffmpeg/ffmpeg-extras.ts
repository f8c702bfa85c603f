// Runs ffmpeg for one file that is made of renditions.
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ExtraRequest } from '../encoder.ts';
import { MAX_MP4_BYTES, fileArguments, pictureArguments } from '../plan/arguments/extra-arguments.ts';
import { readExcerptTrack } from './ffmpeg-output.ts';
import { createEncodeFailure, type FfmpegSetup, runStepOrFail } from './ffmpeg-session.ts';

/** The excerpts and the output, with room for inexact bit rates. */
const MAX_FOLDER_BYTES = 3 * MAX_MP4_BYTES;

export async function createExtra(setup: FfmpegSetup, request: ExtraRequest): Promise<void> {
  const folder = dirname(request.output);
  const limits = request.kind === 'file' ? { output: { folder, bytes: MAX_FOLDER_BYTES } } : {};
  const args =
    request.kind === 'file'
      ? fileArguments(request)
      : pictureArguments(request, await readExcerptTrack(request.excerpt));
  const { log } = await runStepOrFail({ ...setup, folder, request }, { args, limits });
  // Without a frame to show, ffmpeg writes no picture and reports success.
  await access(request.output.replace('%d', '1')).catch(() => {
    throw createEncodeFailure('encode_failed', log);
  });
}
