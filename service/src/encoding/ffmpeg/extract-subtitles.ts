// Converts the text subtitles of a source to WebVTT.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmbeddedSubtitles, SubtitleRequest } from '../encoder.ts';
import { parseSourceFacts } from '../plan/source/source-facts.ts';
import type { SourceFacts } from '../model/source.ts';
import { chooseSubtitles, streamListArguments, subtitleArguments } from '../plan/source/subtitle-streams.ts';
import { type FfmpegSetup, runStep, runStepOrFail } from './ffmpeg-session.ts';

const LIST_MS = 60_000;
/** Far more than fifty files of the longest captions. */
const MAX_OUTPUT_BYTES = 256 * 1024 ** 2;
const THREADS = 1;

/** Throws EncodeError. */
export async function extractSubtitles(
  setup: FfmpegSetup,
  request: SubtitleRequest,
): Promise<readonly EmbeddedSubtitles[]> {
  const { log } = await runStep(
    { ...setup, folder: request.workFolder, request },
    { args: streamListArguments(toInput(request)), limits: { wallMs: LIST_MS } },
  );
  const facts = parseSourceFacts(log, request.container);
  return facts ? convertSubtitles(setup, request, facts) : [];
}

const toInput = ({ source: path, container }: SubtitleRequest) => ({ path, container, threads: THREADS });

/** The source was examined before. Throws EncodeError. */
export async function convertSubtitles(
  setup: FfmpegSetup,
  request: SubtitleRequest,
  facts: SourceFacts,
): Promise<readonly EmbeddedSubtitles[]> {
  const { workFolder: folder } = request;
  const context = { ...setup, folder, request };
  const streams = chooseSubtitles(facts.streams).map((stream) => ({
    ...stream,
    path: join(folder, `${stream.index}.vtt`),
  }));
  if (streams.length === 0) return [];
  await runStepOrFail(context, {
    args: subtitleArguments({ input: toInput(request), facts }, streams),
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
