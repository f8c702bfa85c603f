// Tests the audio tracks of encoded videos by the tones that they carry.
import { readFile } from 'node:fs/promises';
import { Parser } from 'm3u8-parser';
import { parse } from 'mpd-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../test/support/clips/film.ts';
import { isSound } from '../model/cmaf-track.ts';
import { timedSegments } from '../model/track-choice.ts';
import {
  beeps,
  CLEAN,
  decode,
  endOf,
  packets,
  tones,
} from '../../../../test/support/clips/picture-and-sound.ts';

const SECONDS = 5;
const TONES = [440, 880, 1320, 60] as const;
const [ENGLISH, GERMAN, SURROUND, BASS] = TONES;
const sine = (hertz: number, label: string) => `sine=${hertz}:sample_rate=48000${label}`;

/** Two mono tracks, then the default one in 5.1, whose bass channel has a low tone. */
const SOURCE: ClipOptions = {
  seconds: SECONDS,
  more: [
    '-filter_complex',
    [
      sine(ENGLISH, '[english]'),
      sine(GERMAN, '[german]'),
      sine(SURROUND, ',asplit=5[a][b][c][d][e]'),
      sine(BASS, '[bass]'),
      '[a][b][c][bass][d][e]join=inputs=6:channel_layout=5.1[surround]',
    ].join(';'),
    ...['0:v', '[english]', '[german]', '[surround]'].flatMap((stream) => ['-map', stream]),
    ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=ger'],
    ...['-disposition:a:0', '0', '-disposition:a:1', '0', '-disposition:a:2', 'default'],
  ],
};

const track = (film: Film, id: number) => ({ url: film.path(`r${id}.m3u8`), stream: 'a:0' });
/** The tone in each channel; compression makes the measured frequencies a little higher. */
const heardIn = async (film: Film, id: number) =>
  (await tones(track(film, id))).map(
    (hertz) => TONES.find((tone) => Math.abs(hertz - tone) < 0.05 * tone) ?? hertz,
  );

describe.each([
  ['mp4', 'mov'],
  ['mov', 'mov'],
  ['mkv', 'matroska'],
] as const)('several audio tracks in %s', (container, demuxer) => {
  let film: Film;
  beforeAll(async () => {
    film = await encodeFilm(await makeClip({ ...SOURCE, container }), { container: demuxer });
  });
  afterAll(() => film[Symbol.asyncDispose]());

  test('are encoded to stereo, the default one first, then in 5.1', async () => {
    expect(await heardIn(film, 1)).toEqual([SURROUND, SURROUND]);
    expect(await heardIn(film, 2)).toEqual([ENGLISH, ENGLISH]);
    expect(await heardIn(film, 3)).toEqual([GERMAN, GERMAN]);
    expect(await heardIn(film, 4)).toEqual([SURROUND, SURROUND, SURROUND, BASS, SURROUND, SURROUND]);
  });
  test('start at zero, last as long as the picture, and play cleanly', async () => {
    for (const id of [1, 2, 3, 4]) {
      expect((await packets(track(film, id)))[0]?.at).toBe(0);
      expect(await endOf(track(film, id))).toBeCloseTo(SECONDS, 1);
    }
    expect(await decode(film.path('hls.m3u8'))).toEqual(CLEAN);
  });
  test('are reported, with the loudness of the default one', () => {
    const quiet = { loudness_lufs: null, true_peak_dbtp: null, gain_db: null };
    expect(film.audio).toEqual([
      {
        language: null,
        name: 'Audio',
        codec: 'aac',
        channels: 6,
        default: true,
        loudness_lufs: expect.any(Number),
        true_peak_dbtp: expect.any(Number),
        gain_db: null,
      },
      { language: 'en', name: 'English', codec: 'aac', channels: 1, default: false, ...quiet },
      { language: 'de', name: 'German', codec: 'aac', channels: 1, default: false, ...quiet },
    ]);
    expect(film.warnings.map(({ code }) => code)).toEqual(['multiple_audio_tracks', 'surround_audio']);
  });
  test('are listed by both manifests', async () => {
    const parser = new Parser();
    parser.push(await readFile(film.path('hls.m3u8'), 'utf8'));
    parser.end();
    const { AUDIO } = parser.manifest.mediaGroups;
    expect(AUDIO?.['audio']).toMatchObject({
      Audio: { default: true, uri: '1-1/r1.m3u8' },
      English: { default: false, language: 'en', uri: '1-1/r2.m3u8' },
      German: { default: false, language: 'de', uri: '1-1/r3.m3u8' },
    });
    expect(AUDIO?.['audio-51']).toMatchObject({
      Audio: { default: true, uri: '1-1/r4.m3u8' },
      German: { default: false, uri: '1-1/r3.m3u8' },
    });
    const dash = parse(await readFile(film.path('dash.mpd'), 'utf8'), { manifestUri: 'https://a.example/' });
    const languages = Object.values(dash.mediaGroups['AUDIO']?.['audio'] ?? {});
    expect(languages.map(({ language }) => language)).toEqual(expect.arrayContaining(['en', 'de']));
  });
});

test('the measurement is that of EBU R128, and does not change the sound', async () => {
  const tone = { seconds: 3, more: ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a', 'pcm_s16le'] };
  await using film = await encodeFilm(await makeClip({ ...tone, container: 'mov' }));
  const bytesOf = async (id: number) => {
    const names = film.files.map(({ name }) => name).filter((name) => name.startsWith(`r${id}-0`));
    return Promise.all(names.map((name) => readFile(film.path(name), 'latin1')));
  };
  const [measured, other] = [await bytesOf(1), await bytesOf(2)].map((segments) =>
    segments.map((segment) => segment.slice(segment.indexOf('mdat'))),
  );
  // A mono sine of 1 kHz with a quarter of the full amplitude: each channel has half of its power.
  expect(film.audio[0]).toMatchObject({ codec: 'pcm_s16le', loudness_lufs: -15, true_peak_dbtp: -15 });
  expect(measured?.length).toBeGreaterThan(0);
  expect(measured).toEqual(other);
});

test('each late track stays late', async () => {
  const late = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-bsf:a:1', 'setts=ts=TS+1/TB'];
  await using film = await encodeFilm(
    await makeClip({ seconds: 4, flashAndBeep: true, container: 'mp4', more: late }),
  );
  expect((await beeps(track(film, 1)))[0]).toBeCloseTo(0, 1);
  expect((await beeps(track(film, 2)))[0]).toBeCloseTo(1, 1);
});

test.each([
  ['encoded', ['-pix_fmt', 'yuv422p']],
  ['copied', ['-g', '60', '-keyint_min', '60']],
])(
  'the sound of a video that is %s has no short segment at its end',
  async (_, more) => {
    await using film = await encodeFilm(await makeClip({ seconds: 8.1, width: 160, height: 90, more }));
    const [last] = film.index.tracks.filter(isSound).map((sound) => timedSegments(sound).at(-1));
    expect(last?.endSeconds).toBeCloseTo(8.1, 1);
    expect(8.1 - (last?.startSeconds ?? 8.1)).toBeGreaterThan(2);
    const files = await manifestsOf(film);
    expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
  },
  60_000,
);

test('a track that cannot be decoded is dropped with a warning, and the next is the default', async () => {
  const sounds = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a:0', 'wmav2', '-c:a:1', 'aac'];
  await using film = await encodeFilm(await makeClip({ container: 'mkv', more: sounds }), {
    container: 'matroska',
  });
  expect(film.audio).toMatchObject([{ codec: 'aac', default: true }]);
  expect(film.warnings.find(({ code }) => code === 'audio_tracks_dropped')?.message).toBe(
    'Audio tracks are missing: stream 1 (wmav2) cannot be decoded',
  );
});
