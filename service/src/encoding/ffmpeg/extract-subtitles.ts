// Converts the text subtitles of a source to WebVTT.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmbeddedSubtitles, SubtitleRequest } from '../encoder.ts';
import { parseSourceFacts } from '../plan/source-facts.ts';
import { chooseSubtitles, streamListArguments, subtitleArguments } from '../plan/subtitle-streams.ts';
import { type FfmpegSetup, runStep, runStepOrFail } from './ffmpeg-session.ts';

const LIST_MS = 60_000;
/** Far more than fifty files of the longest captions. */
const MAX_OUTPUT_BYTES = 256 * 1024 ** 2;
const THREADS = 1;

/** Throws EncodeFailed. */
export async function extractSubtitles(
  setup: FfmpegSetup,
  request: SubtitleRequest,
): Promise<readonly EmbeddedSubtitles[]> {
  const { source: path, container, workFolder: folder } = request;
  const context = { ...setup, folder, request };
  const input = { path, container, threads: THREADS };
  const { log } = await runStep(context, { args: streamListArguments(input), limits: { wallMs: LIST_MS } });
  const facts = parseSourceFacts(log, container);
  const streams = chooseSubtitles(facts?.streams ?? []).map((stream) => ({
    ...stream,
    path: join(folder, `${stream.index}.vtt`),
  }));
  if (!facts || streams.length === 0) return [];
  await runStepOrFail(context, {
    args: subtitleArguments({ input, startSeconds: facts.startSeconds }, streams),
    limits: { output: { folder, bytes: MAX_OUTPUT_BYTES } },
  });
  return Promise.all(
    streams.map(async ({ index, language, label, kind, path: file }) => ({
      index,
      language,
      label,
      kind,
      bytes: await readFile(file),
    })),
  );
}
