// Extracts the closed captions of a source as WebVTT.
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { nameOfLanguage } from '../../../captions/caption-request.ts';
import { findTriplets } from '../../captions/caption-data.ts';
import { readCaptionPackets } from './caption-packets.ts';
import { type ClosedCaptions, createClosedCaptionDecoder } from '../../captions/closed-captions.ts';
import { EncodeError, type EmbeddedSubtitles, type SubtitleRequest } from '../../encoder.ts';
import type { SourceFacts, SourceStream } from '../../model/source.ts';
import {
  type CaptionFiles,
  type CaptionStream,
  captionArguments,
  findCaptionStreams,
} from '../../plan/source/caption-streams.ts';
import { factsArguments } from '../../plan/source/ffmpeg-input.ts';
import { parseSourceFacts } from '../../plan/source/source-facts.ts';
import { shiftOf } from '../../plan/source/source-timeline.ts';
import { chooseStreams } from '../../plan/source/stream-choice.ts';
import { type FfmpegSetup, runStep, runStepOrFail } from '../ffmpeg-session.ts';

const FACTS_MS = 60_000;
const FACTS_BYTES = 1024 * 1024;
const MIN_WALL_MS = 600_000;
/** A slow disk. */
const BYTES_PER_MS = 10_000;
/** Two hours of captions at 60 frames per second have about 50 MiB. */
const MAX_OUTPUT_BYTES = 256 * 1024 ** 2;
const THREADS = 1;

/** Empty without closed captions. Throws EncodeError. */
export async function extractClosedCaptions(
  setup: FfmpegSetup,
  request: SubtitleRequest,
): Promise<readonly EmbeddedSubtitles[]> {
  const { log } = await runStep(
    { ...setup, folder: request.workFolder, request },
    { args: factsArguments(toInput(request)), limits: { wallMs: FACTS_MS }, logBytes: FACTS_BYTES },
  );
  const facts = parseSourceFacts(log, request.container);
  const chosen = facts && chooseStreams(facts, request.container, log);
  if (!chosen || 'code' in chosen) return [];
  return convertClosedCaptions(setup, request, { facts, video: chosen.video });
}

const toInput = ({ source: path, container }: SubtitleRequest) => ({ path, container, threads: THREADS });

type CaptionSource = { readonly facts: SourceFacts; readonly video: SourceStream };

/** The source was examined before. One file for each language. Throws EncodeError. */
export async function convertClosedCaptions(
  setup: FfmpegSetup,
  request: SubtitleRequest,
  { facts, video }: CaptionSource,
): Promise<readonly EmbeddedSubtitles[]> {
  const found = new Map<string, EmbeddedSubtitles>();
  for (const stream of findCaptionStreams(facts.streams, video)) {
    if (stream.index === video.index && found.size > 0) break;
    for (const [place, captions] of (await decodeStream(setup, request, { facts, stream })).entries()) {
      const subtitles = toSubtitles(stream, captions, place);
      if (!found.has(subtitles.language)) found.set(subtitles.language, subtitles);
    }
  }
  return [...found.values()];
}

type DecodedStream = { readonly facts: SourceFacts; readonly stream: CaptionStream };

/** A damaged stream has the captions before the damage, as the renditions have its pictures. */
async function decodeStream(
  setup: FfmpegSetup,
  request: SubtitleRequest,
  { facts, stream }: DecodedStream,
): Promise<readonly ClosedCaptions[]> {
  const files = await writePackets(setup, request, { facts, stream });
  const decoder = createClosedCaptionDecoder();
  const shift = shiftOf(facts);
  for await (const { seconds, bytes } of readCaptionPackets(files)) {
    const data = findTriplets(stream.codec, bytes).map((triplets) => triplets.slice());
    if (data.length > 0) decoder.push({ seconds: seconds + shift, data });
    request.signal.throwIfAborted();
  }
  return decoder.finish(facts.durationSeconds);
}

async function writePackets(
  setup: FfmpegSetup,
  request: SubtitleRequest,
  { facts: { streams }, stream }: DecodedStream,
): Promise<CaptionFiles> {
  const { workFolder: folder } = request;
  const { size } = await stat(request.source);
  const files = {
    data: join(folder, `captions-${stream.index}.bin`),
    list: join(folder, `captions-${stream.index}.txt`),
  };
  const limits = {
    wallMs: MIN_WALL_MS + size / BYTES_PER_MS,
    output: { folder, bytes: MAX_OUTPUT_BYTES },
  };
  try {
    const args = captionArguments(toInput(request), stream, { ...files, streams });
    await runStepOrFail({ ...setup, folder, request }, { args, limits });
  } catch (error) {
    if (!(error instanceof EncodeError) || error.code !== 'encode_failed') throw error;
    const names = await readdir(folder);
    if (!Object.values(files).every((path) => names.includes(basename(path)))) throw error;
  }
  return files;
}

/** Nothing tells the language of a further channel: it gets a private tag, such as `und-x-cc3`. */
function toSubtitles(
  { index, language }: CaptionStream,
  { name, vtt }: ClosedCaptions,
  place: number,
): EmbeddedSubtitles {
  const isKnown = place === 0 && language !== 'und';
  return {
    index,
    language: place === 0 ? language : `und-x-${name.replace(' ', '').toLowerCase()}`,
    label: isKnown ? nameOfLanguage(language) : name,
    kind: 'captions',
    bytes: Buffer.from(vtt),
  };
}
