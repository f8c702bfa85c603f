// Tests what an audio file becomes, with each ffmpeg of this machine, and which files are refused.
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AudioContainer } from '@mediary/media-rules/video-facts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPaths, makeClip } from '../../../../../test/support/clips/clips.ts';
import { tones } from '../../../../../test/support/clips/picture-and-sound.ts';
import { makeSound, type SoundFormat } from '../../../../../test/support/clips/sounds.ts';
import { EncodeError } from '../../encoder.ts';
import { encodeSound, type SoundOptions } from '../../../../../test/support/clips/encoded-sound.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-sound-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const refusal = (source: string, container: AudioContainer, options?: SoundOptions): Promise<unknown> =>
  encodeSound(source, container, options).then(
    () => 'not refused',
    (error: unknown) => (error instanceof EncodeError ? error.code : error),
  );

const SECONDS = 3;
const FORMATS: readonly (readonly [SoundFormat, AudioContainer, codec: string])[] = [
  ['mp3', 'mp3', 'mp3'],
  ['m4a', 'mov', 'aac'],
  ['aac', 'aac', 'aac'],
  ['wav', 'wav', 'pcm_s16le'],
  ['flac', 'flac', 'flac'],
  ['ogg', 'ogg', 'opus'],
  ['weba', 'matroska', 'opus'],
];

describe.each(ffmpegPaths())('%s encodes', (ffmpeg) => {
  test.each(FORMATS)(
    '%s to stereo with its loudness, waveform and picture',
    async (format, container, codec) => {
      const sound = await encodeSound(await makeSound({ seconds: SECONDS, container: format }), container, {
        ffmpeg,
      });
      expect(Math.abs(sound.durationMs - SECONDS * 1000)).toBeLessThan(80);
      const [facts, ...others] = sound.audio;
      expect([facts, others]).toMatchObject([{ codec, channels: 1, default: true }, []]);
      expect(Math.abs((facts?.loudness_lufs ?? 0) + 12)).toBeLessThan(1);
      expect(sound).toMatchObject({ container, renditions: [], chapters: [], warnings: [] });
      expect([sound.video, sound.width, sound.height]).toEqual([undefined, undefined, undefined]);
      expect(sound.placeholder).toMatch(/^[\w+/]{8,}={0,2}$/);
      for (const hertz of await tones({ url: sound.path('r0.m3u8'), stream: 'a:0' }))
        expect(Math.abs(hertz - 440)).toBeLessThan(0.06 * 440);
      const { data, length } = JSON.parse(await readFile(sound.path('waveform.json'), 'utf8'));
      const highestAt = (part: number) => data[Math.floor(length * part) * 2 + 1];
      expect(Math.abs(highestAt(0.25) - 64)).toBeLessThan(6);
      expect(Math.abs(highestAt(0.75) - 32)).toBeLessThan(4);
      expect([...sound.percents]).toEqual(sound.percents.toSorted((a, b) => a - b));
      expect(sound.files.map(({ name }) => name).sort()).toEqual(
        ['index.json', 'r0-00001.m4s', 'r0-init.mp4', 'thumb.jpg', 'waveform.json'].sort(),
      );
    },
  );

  test.each([
    ['mp3', 'mp3'],
    ['m4a', 'mov'],
    ['flac', 'flac'],
  ] as const)('%s with its cover as the thumbnail', async (format, container) => {
    const source = await makeSound({ container: format, hasCover: true });
    const { path, durationMs } = await encodeSound(source, container, { ffmpeg });
    expect(Math.abs(durationMs - 3000)).toBeLessThan(80);
    expect(await readSize(path('thumb.jpg'))).toEqual([300, 300]);
  });
});

/** Height and width of a baseline JPEG. */
async function readSize(path: string): Promise<readonly number[]> {
  const bytes = await readFile(path);
  const at = bytes.indexOf(Buffer.from([0xff, 0xc0]));
  return [bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7)];
}

test('manifests have one variant of sound, without a very short last segment', async () => {
  // The third segment would have 20 ms.
  const { path } = await encodeSound(await makeSound({ seconds: 8.02, container: 'flac' }), 'flac');
  const hls = await readFile(path('hls.m3u8'), 'utf8');
  expect(hls.match(/^#EXT-X-.*$/gm)?.slice(1)).toEqual([
    '#EXT-X-INDEPENDENT-SEGMENTS',
    expect.stringMatching(/^#EXT-X-STREAM-INF:BANDWIDTH=\d+,AVERAGE-BANDWIDTH=\d+,CODECS="mp4a\.40\.2"$/),
  ]);
  const durations = (await readFile(path('r0.m3u8'), 'utf8')).matchAll(/^#EXTINF:([\d.]+),$/gm);
  expect([...durations].map(([, seconds]) => Math.round(Number(seconds)))).toEqual([4, 4]);
  const dash = await readFile(path('dash.mpd'), 'utf8');
  expect(dash.match(/contentType="\w+"/g)).toEqual(['contentType="audio"']);
  expect(Number(/mediaPresentationDuration="PT([\d.]+)S"/.exec(dash)?.[1])).toBeCloseTo(8.04, 1);
});

test('chapters of a podcast', async () => {
  const about = join(folder, 'chapters.txt');
  await writeFile(
    about,
    `;FFMETADATA1
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1000
title=Intro
[CHAPTER]
TIMEBASE=1/1000
START=1000
END=3000
title=News
`,
  );
  const more = ['-i', about, '-map_metadata', '1', '-map_chapters', '1'];
  const { chapters } = await encodeSound(await makeSound({ container: 'm4a', inputs: more }), 'mov');
  expect(chapters).toEqual([
    { start_ms: 0, title: 'Intro' },
    { start_ms: 1000, title: 'News' },
  ]);
});

test('the sound of a video in two languages: the default one, and a warning', async () => {
  const source = await makeClip({
    seconds: 2,
    more: [
      '-map',
      '0:v',
      '-map',
      '1:a',
      '-map',
      '1:a',
      '-disposition:a:0',
      '0',
      '-disposition:a:1',
      'default',
    ],
  });
  const { audio, warnings } = await encodeSound(source, 'mov');
  expect(audio).toHaveLength(1);
  expect(warnings).toEqual([
    { code: 'audio_tracks_dropped', message: 'An audio asset has one track. Left out: stream 1 (aac).' },
  ]);
});

test('sound that is shorter than the pictures of the file', async () => {
  const source = await makeClip({ seconds: 4, more: ['-af', 'atrim=end=1.5'] });
  const { durationMs, warnings } = await encodeSound(source, 'mov');
  expect(Math.abs(durationMs - 1500)).toBeLessThan(80);
  expect(warnings).toEqual([]);
});

describe('refuses', () => {
  const cut = async (source: string, part: number): Promise<string> => {
    const { size } = await stat(source);
    const path = join(folder, `cut-${part}-${source.slice(-4)}`);
    await using file = await open(source);
    const { buffer } = await file.read(Buffer.alloc(Math.floor(size * part)), 0, Math.floor(size * part), 0);
    await writeFile(path, buffer);
    return path;
  };

  test.each([
    ['m4a', 'mov'],
    ['flac', 'flac'],
  ] as const)('%s without its end', async (format, container) => {
    const more = format === 'm4a' ? ['-movflags', '+faststart'] : [];
    const source = await cut(await makeSound({ seconds: 10, container: format, more }), 0.8);
    expect(await refusal(source, container)).toBe('truncated');
  });

  test('a video without sound, noise, and sound that is longer than allowed', async () => {
    expect(await refusal(await makeClip({ audio: false }), 'mov')).toBe('no_audio_track');
    const noise = join(folder, 'noise.flac');
    await writeFile(noise, Buffer.alloc(50_000, 'no music '));
    for (const container of ['mov', 'flac', 'wav', 'ogg'] as const)
      expect(await refusal(noise, container)).toBe('not_media');
    expect(await refusal(await makeSound({ seconds: 3 }), 'mp3', { maxDurationSeconds: 2 })).toBe('too_long');
    // ADTS has no duration.
    const aac = await makeSound({ seconds: 5, container: 'aac' });
    expect(await refusal(aac, 'aac', { maxDurationSeconds: 2 })).toBe('too_long');
  });
});
