// Measures a stream as a player sees it: whether it decodes completely, where segments start, and when it
// flashes and beeps.
import { execFile } from 'node:child_process';
import { ffmpegPath } from './clips.ts';

/** `url` may be a file; `stream` is ffmpeg's word for one of its streams: `v:0`, `a:0`. */
type Track = { readonly url: string; readonly stream: string };
type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Decodes all streams to their end: what cannot be decoded cleanly leaves a code or a line. */
export async function decode(url: string): Promise<Pick<Ended, 'code' | 'stderr'>> {
  // The null format has no encoder of its own for captions.
  const output = ['-map', '0', '-c:s', 'webvtt', '-f', 'null', '-'];
  const { code, stderr } = await ffmpeg(['-loglevel', 'warning', '-i', url, ...output]);
  return { code, stderr };
}

/** Clean, as `decode` tells it. */
export const CLEAN = { code: 0, stderr: '' };

/**
 * The addresses of the media playlists that an HLS stream consists of, as a player makes them from what is
 * written there.
 */
export async function playlistsOf(
  hls: string,
): Promise<{ readonly pictures: readonly string[]; readonly sounds: readonly string[] }> {
  const text = await (await fetch(hls)).text();
  const address = (path: string) => new URL(path, hls).href;
  const sounds = [...text.matchAll(/^#EXT-X-MEDIA:.*URI="([^"]+)"/gm)].map(([, path = '']) => address(path));
  return {
    // The last variant is the sound alone.
    pictures: text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map(address)
      .filter((url) => !sounds.includes(url)),
    sounds,
  };
}

/** In seconds on the stream's own clock. */
type Packet = { readonly at: number; readonly end: number; readonly isKey: boolean };

export async function packets({ url, stream }: Track): Promise<readonly Packet[]> {
  const listing = await measured([
    '-copyts',
    '-i',
    url,
    '-map',
    `0:${stream}`,
    '-c',
    'copy',
    '-f',
    'framecrc',
    '-',
  ]);
  const [, numerator = 0, denominator = 1] = (/^#tb 0: (\d+)\/(\d+)$/m.exec(listing) ?? []).map(Number);
  const tick = numerator / denominator;
  const listed = listing
    .split('\n')
    .filter((line) => /^\d/.test(line))
    .map((line) => {
      const [, , pts = NaN, duration = NaN] = line.split(',').map(Number);
      return { at: pts * tick, end: (pts + duration) * tick, isKey: !line.includes('F=0x0') };
    });
  const delay = stream.startsWith('v') ? reorderDelay(listed) : 0;
  return listed.map(({ at, end, isKey }) => ({ at: at - delay, end: end - delay, isKey }));
}

const MAX_DELAY_SECONDS = 0.1;

/** ffmpeg shifts video with B-frames until no decode time is after its show time; players do not. */
function reorderDelay(listed: readonly Packet[]): number {
  const first = Math.min(...listed.map(({ at }) => at));
  return first <= MAX_DELAY_SECONDS ? first : 0;
}

export const keyframes = async (track: Track): Promise<number[]> =>
  (await packets(track)).filter(({ isKey }) => isKey).map(({ at }) => rounded(at));

export const endOf = async (track: Track): Promise<number> =>
  Math.max(...(await packets(track)).map(({ end }) => end));

const LUMA = {
  filter: '-vf',
  graph: 'setpts=PTS-STARTPTS,scale=4:4,signalstats,metadata=print:key=lavfi.signalstats.YAVG:file=-',
} as const;

/** When a picture turns white. */
export const flashes = (track: Track): Promise<number[]> =>
  onsets(track, { ...LUMA, isOn: (luma) => luma > 128 });

/** The mean luma of each frame. */
export const brightness = async (track: Track): Promise<number[]> =>
  (await samples(track, LUMA)).map(({ value }) => value);

/** When a sound begins, to the millisecond. */
export const beeps = (track: Track): Promise<number[]> =>
  onsets(track, {
    filter: '-af',
    graph:
      'asetnsamples=n=48:p=0,astats=metadata=1:reset=1:measure_perchannel=none:measure_overall=Peak_level,' +
      'ametadata=print:key=lavfi.astats.Overall.Peak_level:file=-',
    isOn: (decibel) => decibel > -20,
  });

/** Frequency of the tone in each channel, in hertz. */
export async function tones({ url, stream }: Track): Promise<number[]> {
  const graph =
    'aresample=48000,astats=metadata=1:reset=0:measure_perchannel=Zero_crossings_rate:measure_overall=none,' +
    'ametadata=print:file=-';
  const output = await measured(['-i', url, '-map', `0:${stream}`, '-af', graph, '-f', 'null', '-']);
  const last = output.slice(output.lastIndexOf('frame:'));
  return [...last.matchAll(/^lavfi\.astats\.\d+\.Zero_crossings_rate=(\S+)$/gm)].map(
    ([, rate]) => (Number(rate) * 48_000) / 2,
  );
}

type Measure = { readonly filter: string; readonly graph: string };
type Onset = Measure & { readonly isOn: (value: number) => boolean };

async function onsets(track: Track, { isOn, ...measure }: Onset): Promise<number[]> {
  const frames = (await samples(track, measure)).map(({ at, value }) => ({ at, on: isOn(value) }));
  return frames.filter(({ on }, index) => on && !recentlyOn(frames, index)).map(({ at }) => rounded(at));
}

type Sample = { readonly at: number; readonly value: number };

async function samples({ url, stream }: Track, { filter, graph }: Measure): Promise<readonly Sample[]> {
  const output = await measured([
    '-copyts',
    '-i',
    url,
    '-map',
    `0:${stream}`,
    filter,
    graph,
    '-f',
    'null',
    '-',
  ]);
  return [...output.matchAll(/pts_time:(\S+)\s+lavfi\.\S+=(\S+)/g)].map(([, at, value]) => ({
    at: Number(at),
    value: Number(value),
  }));
}

/** A tone passes through zero: a moment of silence does not end it. */
const recentlyOn = (
  frames: readonly { readonly at: number; readonly on: boolean }[],
  index: number,
): boolean => frames.slice(Math.max(0, index - 20), index).some(({ on }) => on);

const rounded = (seconds: number): number => Math.round(seconds * 1000) / 1000;

async function measured(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ffmpeg(['-loglevel', 'error', ...args]);
  if (code !== 0) throw new Error(`ffmpeg ended with ${code}: ${stderr}`);
  return stdout;
}

function ffmpeg(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(
      ffmpegPath(),
      ['-nostdin', '-hide_banner', ...args],
      { maxBuffer: 64 * 1024 ** 2 },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr });
      },
    );
  });
}

type Loudness = { readonly lufs: number; readonly peakDbtp: number };

/** Integrated loudness and true peak by EBU R128. */
export async function loudness({ url, stream }: Track): Promise<Loudness> {
  const filter = ['-af', 'ebur128=peak=true:framelog=verbose', '-f', 'null', '-'];
  const { stderr } = await ffmpeg(['-loglevel', 'info', '-i', url, '-map', `0:${stream}`, ...filter]);
  const value = (form: RegExp) => Number(form.exec(stderr)?.[1] ?? Number.NaN);
  return { lufs: value(/I: +(\S+) LUFS/), peakDbtp: value(/Peak: +(\S+) dBFS/) };
}
