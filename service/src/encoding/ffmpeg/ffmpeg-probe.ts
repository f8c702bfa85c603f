// Probes the containers that operators add with ffmpeg in the sandbox, from the head and the end of the file.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { AddedContainer, MediaFacts, ProbeResult } from '@mediary/media-rules/video-facts';
import type { ByteSource, Probe } from '../../media/probe.ts';
import type { AcquireSlot } from '../../platform/process/fair-slots.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { factsArguments } from '../plan/source/ffmpeg-input.ts';
import { parseSourceFacts } from '../plan/source/source-facts.ts';
import type { SourceFacts } from '../model/source.ts';
import { toTraits } from '../plan/source/source-traits.ts';
import { type ChosenStreams, chooseStreams } from '../plan/source/stream-choice.ts';
import { runFfmpeg } from './process/ffmpeg-process.ts';
import type { FfmpegSetup } from './ffmpeg-session.ts';

type ProbeOptions = {
  readonly acquire: AcquireSlot;
  readonly scratchRoot: string;
  /** CPU time of a probe. */
  readonly deadlineMs: number;
};

/** More than ffmpeg examines before the first frame. */
const HEAD_BYTES = 16 * 1024 ** 2;
/** Contains the index or the last timestamps. */
const END_BYTES = 2 * 1024 ** 2;
const MEMORY_BYTES = 1024 ** 3;
const LOG_BYTES = 1024 ** 2;
/** A probe on a busy machine gets this multiple of its deadline. */
const MAX_DEADLINES = 5;

/** What ffmpeg cannot say from the excerpt is left to the encoder, which reads the whole file. */
export const LEFT_TO_ENCODER: ProbeResult = {
  facts: { width: null, height: null, durationMs: null, hasVideo: false, hasAudio: false, traits: {} },
};

export const openFfmpegProbe = (setup: FfmpegSetup, options: ProbeOptions): Probe<AddedContainer> => ({
  async probe(source, container, owner = '') {
    const release = await options.acquire(owner);
    try {
      return await probeExcerpt(setup, options, { source, container });
    } finally {
      release();
    }
  },
});

type Excerpted = { readonly source: ByteSource; readonly container: AddedContainer };

async function probeExcerpt(
  setup: FfmpegSetup,
  { scratchRoot, deadlineMs }: ProbeOptions,
  { source, container }: Excerpted,
): Promise<ProbeResult> {
  const folder = await createScratchFolder(scratchRoot, { work: `probe-${randomUUID()}`, run: '1' });
  try {
    const path = join(folder, 'excerpt');
    const isWhole = await writeExcerpt(source, path);
    const log = await readLog(setup, { path, container }, deadlineMs);
    return log === undefined ? LEFT_TO_ENCODER : toProbeResult(log, { container, isWhole });
  } finally {
    await deleteScratchFolder(folder);
  }
}

/** Writes a file of the same size that lacks the middle of a long one. True if it lacks nothing. */
async function writeExcerpt({ sizeBytes, read }: ByteSource, path: string): Promise<boolean> {
  await using file = await open(path, 'wx', 0o600);
  const headEnd = Math.min(sizeBytes, HEAD_BYTES);
  const endStart = Math.max(headEnd, sizeBytes - END_BYTES);
  await writeAt(file, await read(0, headEnd), 0);
  if (endStart < sizeBytes) await writeAt(file, await read(endStart, sizeBytes), endStart);
  return headEnd === endStart;
}

async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}

type Excerpt = { readonly path: string; readonly container: AddedContainer };

/** Undefined if ffmpeg did not start or exceeded a limit. */
async function readLog(
  { ffmpegPath, sandbox }: FfmpegSetup,
  excerpt: Excerpt,
  deadlineMs: number,
): Promise<string | undefined> {
  const { outcome, log } = await runFfmpeg({
    path: ffmpegPath,
    args: factsArguments({ ...excerpt, threads: 1 }),
    ...(sandbox && { sandbox }),
    signal: new AbortController().signal,
    limits: { wallMs: deadlineMs * MAX_DEADLINES, memoryBytes: MEMORY_BYTES },
    logBytes: LOG_BYTES,
  });
  return outcome === 'exited' ? log : undefined;
}

type ExcerptKind = Pick<Excerpt, 'container'> & { readonly isWhole: boolean };

function toProbeResult(log: string, { container, isWhole }: ExcerptKind): ProbeResult {
  const facts = parseSourceFacts(log, container);
  if (!facts) return toRefusal('not_media', isWhole);
  const chosen = chooseStreams(facts, container, log);
  return 'code' in chosen ? toRefusal(chosen.code, isWhole) : { facts: toMediaFacts(facts, chosen) };
}

function toRefusal(code: string, isWhole: boolean): ProbeResult {
  if (code === 'picture_too_large') return { refused: code };
  const isCertain = isWhole && (code === 'not_media' || code === 'no_video_track');
  return isCertain ? { refused: code } : LEFT_TO_ENCODER;
}

const toMediaFacts = (facts: SourceFacts, chosen: ChosenStreams): MediaFacts => ({
  ...chosen.frame.displaySize,
  durationMs: facts.durationSeconds === null ? null : Math.round(facts.durationSeconds * 1000),
  hasVideo: true,
  hasAudio: chosen.audioStreams.length > 0,
  traits: toTraits(facts, chosen),
});
