// Tests cuts of recordings in MPEG-TS whose streams begin at different times.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { EXACT, NUMBERED, numbersIn } from '../../../../test/support/clips/numbered-film.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';

const LATE_PICTURE = ['-bsf:v', 'setts=pts=PTS+0.56/TB:dts=DTS+0.56/TB'];
/** Of broadcasters; it is not decoded. */
const UNSUPPORTED_SOUND = ['-c:a', 's302m', '-strict', '-2', '-ar', '48000', '-ac', '2'];
/** One more track than an asset has; the last of them begins first. */
const NINE_TRACKS = [
  ...Array.from({ length: 9 }, () => ['-map', '1:a']).flat(),
  ...['-map', '0:v', '-disposition:a:0', 'default'],
  ...Array.from({ length: 8 }, (_, index) => [`-bsf:a:${index}`, 'setts=ts=TS+0.4/TB']).flat(),
];

async function cut(source: string, startMs: number, endMs: number): Promise<string> {
  const workFolder = await mkdtemp(join(tmpdir(), 'mediary-cut-'));
  onTestFinished(() => rm(workFolder, { recursive: true, force: true }));
  const { signal } = new AbortController();
  const request = {
    source,
    container: 'mpegts',
    workFolder,
    startMs,
    endMs,
    maxBytes: 2 ** 30,
    signal,
  } as const;
  return (await openFfmpegEncoder({ ffmpegPath: ffmpegPath() }).cut(request)).path;
}

test.each([
  ['sound', []],
  ['sound that is not decoded', UNSUPPORTED_SOUND],
  ['more tracks than a clip has', NINE_TRACKS],
])(
  'a cut of a recording whose picture is later than its %s has the frames of its renditions',
  async (_, sound) => {
    const more = [...NUMBERED.more, ...EXACT.h264, ...LATE_PICTURE, ...sound];
    const source = await makeClip({ ...NUMBERED, container: 'ts', more });
    await using film = await encodeFilm(source, { container: 'mpegts' });
    const played = await numbersIn({ url: film.path('r0.m3u8'), stream: 'v:0' });
    for (const [start, end] of [
      [200, 1000],
      [1600, 2400],
      [3480, 4000],
    ] as const)
      expect(await numbersIn({ url: await cut(source, start, end), stream: 'v:0' }), `from ${start}`).toEqual(
        played.slice(start / 40, end / 40),
      );
  },
);
