// Opens the sandbox for decoders of untrusted bytes, and the ffmpeg encoder that runs in it.
import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import { EncodeFailed, type Encoder } from './encoding/encoder.ts';
import { openFfmpegEncoder } from './encoding/ffmpeg/ffmpeg-encoder.ts';
import { findFfmpeg } from './encoding/ffmpeg/find-engine.ts';
import type { Logger } from './platform/logger.ts';
import { detectSandbox } from './platform/process/detect-sandbox.ts';
import { missingProtections, type Sandbox } from './platform/process/sandbox.ts';

export type Decoders = {
  readonly encoder: Encoder;
  /** Why this process cannot encode videos, for the operator; undefined if it can. */
  readonly encoderMissing: string | undefined;
  readonly sandbox: Sandbox;
};

type DecoderContext = { readonly log: Logger; readonly searchPath: string | undefined };

/** Finds ffmpeg first, because the sandbox must be able to run it. */
export async function openDecoders(config: Config, { log, searchPath }: DecoderContext): Promise<Decoders> {
  const engine = await findFfmpeg({ setting: config.ffmpegPath, searchPath });
  const sandbox = await openSandbox(config, 'path' in engine ? [engine.path] : []);
  const missing = missingProtections(sandbox);
  if (missing.length > 0) log.warn({ missing }, 'the sandbox of media decoders is incomplete');
  if ('missing' in engine)
    return { encoder: refusingEncoder(engine.missing), encoderMissing: engine.missing, sandbox };
  const encoder = openFfmpegEncoder({
    ffmpegPath: engine.path,
    sandbox,
    memoryBytes: config.encoderMemoryBytes,
    limits: config.encodeLimits,
    concurrency: concurrencyOf(config),
  });
  return { encoder, encoderMissing: undefined, sandbox };
}

/** Fails early, before anything that would have to be closed again is opened. */
export async function assertFfmpegSetting({ ffmpegPath }: Config): Promise<void> {
  if (ffmpegPath === undefined) return;
  const engine = await findFfmpeg({ setting: ffmpegPath, searchPath: undefined });
  if ('missing' in engine)
    throw new Error(
      `FFMPEG_PATH cannot be used: ${engine.missing}. Set it to an ffmpeg program, or unset it to use the installed one.`,
    );
}

async function openSandbox(config: Config, programs: readonly string[]): Promise<Sandbox> {
  const hidden = [config.dataDir, storeFolder(config)];
  await Promise.all(hidden.map((folder) => mkdir(folder, { recursive: true, mode: 0o700 })));
  const sandbox = await detectSandbox({
    hidden,
    readable: [process.execPath, import.meta.filename, ...programs],
    user: { uid: config.sandboxUid, gid: config.sandboxUid },
  });
  const missing = missingProtections(sandbox);
  if (config.sandbox === 'required' && missing.length > 0)
    throw new Error(
      `SANDBOX is "required", but this system does not support: ${missing.join(', ')}. Enable these protections, or set SANDBOX=available.`,
    );
  return sandbox;
}

/** Without ffmpeg every video fails with the code `encoder_missing`; it would otherwise wait forever. */
function refusingEncoder(reason: string): Encoder {
  const refuse = async () => {
    throw new EncodeFailed('encoder_missing', 'ffmpeg is not installed where videos are encoded', reason);
  };
  return { encode: refuse, makePoster: refuse };
}

/** One encode uses about four cores. */
const CORES_PER_ENCODE = 4;

export const concurrencyOf = ({ encodeConcurrency }: Config): number =>
  encodeConcurrency ?? Math.max(1, Math.floor(availableParallelism() / CORES_PER_ENCODE));

/** The folder of the disk store. */
export const storeFolder = ({ storageUrl, dataDir }: Config): string =>
  storageUrl === undefined ? join(dataDir, 'objects') : fileURLToPath(storageUrl);
