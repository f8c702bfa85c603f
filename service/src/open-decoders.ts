// Opens the decoders of untrusted files: the sandbox, ffmpeg, and the pool of probe and image processes.
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import { EncodeError, type Encoder } from './encoding/encoder.ts';
import { openFfmpegEncoder } from './encoding/ffmpeg/ffmpeg-encoder.ts';
import { chooseHardware } from './encoding/ffmpeg/hardware-trial.ts';
import { LEFT_TO_ENCODER, openFfmpegProbe } from './encoding/ffmpeg/ffmpeg-probe.ts';
import { type FfmpegSearch, findFfmpeg } from './encoding/ffmpeg/process/find-ffmpeg.ts';
import { isLegacyContainer } from './encoding/plan/source/decoders.ts';
import type { ImageProcessor } from './images/image-processor.ts';
import { openSharpImageProcessor } from './images/sharp-image-processor.ts';
import { openMediabunnyProbe } from './media/mediabunny-probe.ts';
import type { AddedContainer } from '@mediary/media-rules/video-facts';
import type { AudioProbe, Probe } from './media/probe.ts';
import type { Logger } from './platform/observability/logger.ts';
import { type ChildPool, openChildPool } from './platform/process/child-pool.ts';
import { detectSandbox } from './platform/process/detect-sandbox.ts';
import {
  describeRemedies,
  missingProtections,
  missingRequired,
  type Sandbox,
} from './platform/process/sandbox.ts';
import { startScratchCleanup } from './platform/process/scratch-folder.ts';

export type Decoders = {
  readonly encoder: Encoder;
  /** Why this machine cannot encode videos, for operators; undefined if it can. */
  readonly encoderMissing: string | undefined;
  /** `nvenc` or `vaapi`, where its trial succeeded; else `x264`. */
  readonly videoEncoder: string;
  /** How many encodes of a kind a worker runs at once. */
  readonly encodeSlots: number;
  /** The version of ffmpeg; undefined if it is not installed. */
  readonly encoderVersion: string | undefined;
  readonly sandbox: Sandbox;
  readonly probe: Probe & AudioProbe;
  readonly imageProcessor: ImageProcessor;
  close(): Promise<void>;
};

type DecoderContext = { readonly log: Logger; readonly ffmpeg: FfmpegSearch };

/** The sandbox must be able to run `ffmpeg`. */
export async function openDecoders(config: Config, { log, ffmpeg }: DecoderContext): Promise<Decoders> {
  const sandbox = await openSandbox(config, 'path' in ffmpeg ? [ffmpeg.path] : []);
  warnOfMissingParts(sandbox, log);
  const { processes = decoderProcesses(), idleMs, image } = config.decoders;
  const scratchCleanup = startScratchCleanup(scratchFolder(config.dataDir), log);
  const pool = openChildPool({ sandbox, processes, idleMs });
  return {
    ...(await openEncoder(config, { ffmpeg, sandbox, log })),
    encodeSlots: concurrencyOf(config),
    sandbox,
    probe: openProbe(config, pool, { ffmpeg, sandbox }),
    imageProcessor: openSharpImageProcessor(pool, image),
    close: () => {
      scratchCleanup.stop();
      return pool.close();
    },
  };
}

function warnOfMissingParts(sandbox: Sandbox, log: Logger): void {
  const missing = missingProtections(sandbox);
  if (missing.length === 0) return;
  const remedies = describeRemedies(missingRequired(sandbox, isRoot()), isRoot());
  log.warn({ missing, remedies }, 'decoders of untrusted files run without a part of their sandbox');
}

const isRoot = (): boolean => process.getuid?.() === 0;

type Engine = { readonly ffmpeg: FfmpegSearch; readonly sandbox: Sandbox };

/** Both probes share one group of processes. */
function openProbe(
  { decoders, dataDir }: Config,
  pool: ChildPool,
  { ffmpeg, sandbox }: Engine,
): Probe & AudioProbe {
  const { deadlineMs, perOwner, waitMs } = decoders.probe;
  const acquire = pool.addGroup({ perOwner, waitMs, maxWaiting: Number.POSITIVE_INFINITY });
  const indexed = openMediabunnyProbe(pool, { deadlineMs, acquire });
  const scratchRoot = scratchFolder(dataDir);
  const added: Probe<AddedContainer> =
    'path' in ffmpeg
      ? openFfmpegProbe({ ffmpegPath: ffmpeg.path, sandbox }, { acquire, scratchRoot, deadlineMs })
      : { probe: async () => LEFT_TO_ENCODER };
  return {
    probe: (source, container, owner) =>
      isLegacyContainer(container)
        ? added.probe(source, container, owner)
        : indexed.probe(source, container, owner),
    probeAudio: indexed.probeAudio,
  };
}

type OpenedEncoder = Pick<Decoders, 'encoder' | 'encoderMissing' | 'encoderVersion' | 'videoEncoder'>;

async function openEncoder(
  config: Config,
  { ffmpeg, sandbox, log }: Engine & { readonly log: Logger },
): Promise<OpenedEncoder> {
  if ('missing' in ffmpeg)
    return {
      encoder: createFailingEncoder(ffmpeg.missing),
      encoderMissing: ffmpeg.missing,
      encoderVersion: undefined,
      videoEncoder: SOFTWARE,
    };
  const setup = { ffmpegPath: ffmpeg.path, sandbox, memoryBytes: config.encoderMemoryBytes };
  const hardware = config.role === 'api' ? undefined : await chooseHardware(config.videoEncoder, setup, log);
  const encoder = openFfmpegEncoder({
    ...setup,
    hardware,
    limits: config.encodeLimits,
    ladder: config.ladder,
    loudness: config.loudness,
    concurrency: concurrencyOf(config),
  });
  return {
    encoder,
    encoderMissing: undefined,
    encoderVersion: ffmpeg.version,
    videoEncoder: hardware?.encoder ?? SOFTWARE,
  };
}

const SOFTWARE = 'x264';

/** Throws if FFMPEG_PATH is unusable. Call it before opening anything that needs closing. */
export async function findConfiguredFfmpeg(
  { ffmpegPath, ladder }: Config,
  searchPath: string | undefined,
): Promise<FfmpegSearch> {
  const ffmpeg = await findFfmpeg({ setting: ffmpegPath, searchPath, codecs: ladder });
  if (ffmpegPath !== undefined && 'missing' in ffmpeg)
    throw new Error(
      `FFMPEG_PATH cannot be used: ${ffmpeg.missing}. ` +
        'Set it to an ffmpeg program, or unset it to use the installed one.',
    );
  return ffmpeg;
}

async function openSandbox(config: Config, programs: readonly string[]): Promise<Sandbox> {
  const hidden = config.s3 ? [config.dataDir] : [config.dataDir, storeFolder(config)];
  await Promise.all(hidden.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  const sandbox = await detectSandbox({
    hidden,
    readable: [process.execPath, import.meta.filename, ...programs],
    user: { uid: config.sandboxUid, gid: config.sandboxUid },
  });
  const missing = missingRequired(sandbox, isRoot());
  if (config.sandbox === 'required' && missing.length > 0)
    throw new Error(
      [
        'SANDBOX is "required", but parts of the sandbox are missing. They need:',
        ...describeRemedies(missing, isRoot()).map((line) => `  - ${line}`),
        'SANDBOX=available starts without them.',
      ].join('\n'),
    );
  return sandbox;
}

/** Without ffmpeg, each video fails with that reason instead of waiting in the queue. */
function createFailingEncoder(reason: string): Encoder {
  const refuse = async () => {
    throw new EncodeError('encoder_missing', 'ffmpeg is not installed where videos are encoded', reason);
  };
  return {
    encodeAudio: refuse,
    startEncode: refuse,
    continueEncode: refuse,
    encodeChunk: refuse,
    createPoster: refuse,
    createExtra: refuse,
    extractSubtitles: refuse,
    extractClosedCaptions: refuse,
    cut: refuse,
  };
}

/** An image process may use 1 GiB of memory, which limits their number on large machines. */
const decoderProcesses = (): number => Math.min(16, Math.max(6, 2 * availableParallelism()));

/** One encode keeps four cores busy. */
const CORES_PER_ENCODE = 4;

export const concurrencyOf = ({ encodeConcurrency }: Config): number =>
  encodeConcurrency ?? Math.max(1, Math.floor(availableParallelism() / CORES_PER_ENCODE));

/** The folder of temporary files. */
export const scratchFolder = (dataDir: string): string => join(dataDir, 'scratch');

/** The folder of the object store. */
export const storeFolder = ({ storageUrl, dataDir }: Config): string =>
  storageUrl === undefined ? join(dataDir, 'objects') : fileURLToPath(storageUrl);
