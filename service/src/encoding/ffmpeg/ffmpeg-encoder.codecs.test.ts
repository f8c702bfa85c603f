// Tests AV1 and HEVC renditions beside those in H.264, and the manifests of all of them.
import { readFile } from 'node:fs/promises';
import { Parser } from 'm3u8-parser';
import { parse } from 'mpd-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDash } from '../../../../test/support/playback/check-dash.ts';
import { checkHls } from '../../../../test/support/playback/check-hls.ts';
import { makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film, manifestsOf } from '../../../../test/support/clips/film.ts';
import { CLEAN, decode, keyframes } from '../../../../test/support/clips/picture-and-sound.ts';
import { DEFAULT_LADDER } from '../plan/ladder/ladder.ts';

let film: Film;
const percents: number[] = [];
beforeAll(async () => {
  // The tail of 8 frames joins the segment before it.
  const clip = await makeClip({ seconds: 4.27, width: 320, height: 180 });
  film = await encodeFilm(clip, {
    ladder: { ...DEFAULT_LADDER, extraCodecs: ['av1', 'hevc'] },
    onProgress: (percent) => percents.push(percent),
  });
});
afterAll(() => film[Symbol.asyncDispose]());

describe('further codecs', () => {
  test('are renditions of their own', () => {
    const rendition = { width: 320, height: 180, state: 'ready', bitrate: expect.any(Number) };
    expect(film.renditions).toEqual([
      rendition,
      { ...rendition, codec: 'av1' },
      { ...rendition, codec: 'hevc' },
    ]);
    expect(film.warnings).toEqual([]);
  });
  test('have the key frames and the length of H.264', async () => {
    for (const name of ['r0.m3u8', 'r100.m3u8', 'r200.m3u8']) {
      expect(await keyframes({ url: film.path(name), stream: 'v:0' }), name).toEqual([0, 2]);
      expect(await decode(film.path(name)), name).toEqual(CLEAN);
    }
  });
  test('continue the progress of H.264', () => {
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect(percents.at(-1)).toBeGreaterThan(90);
  });
  test('make manifests without violations', async () => {
    const files = await manifestsOf(film);
    expect(checkHls(files)).toEqual([]);
    expect(checkDash(files)).toEqual([]);
  });
  test('are read from the HLS playlists by another parser', async () => {
    const { playlists, mediaGroups } = await parsePlaylist('hls.m3u8');
    const variants = playlists.map(({ uri, attributes }) => [uri, attributes['CODECS']]);
    expect(variants).toEqual([
      ['1-1/r0.m3u8', 'avc1.4d400d,mp4a.40.2'],
      ['1-1/r100.m3u8', expect.stringMatching(/^av01\.0\.\d\dM\.08,mp4a\.40\.2$/)],
      ['1-1/r200.m3u8', expect.stringMatching(/^hvc1\.1\.6\.L\d+\.[\dA-F.]+,mp4a\.40\.2$/)],
    ]);
    expect(Object.values(mediaGroups.AUDIO['audio'] ?? {}).map(({ uri }) => uri)).toEqual(['1-1/r1.m3u8']);
    const { segments, endList, targetDuration } = await parsePlaylist('r100.m3u8');
    expect({ endList, targetDuration }).toEqual({ endList: true, targetDuration: 7 });
    expect(segments.map(({ uri, map }) => [uri, map.uri])).toEqual([['r100-00001.m4s', 'r100-init.mp4']]);
  });
  test('are read from the DASH manifest by another parser', async () => {
    const text = await readFile(film.path('dash.mpd'), 'utf8');
    const { playlists, duration } = parse(text, { manifestUri: 'http://localhost/dash.mpd' });
    expect(
      playlists.map(({ attributes }) => [attributes['NAME'], String(attributes['CODECS']).slice(0, 4)]),
    ).toEqual([
      ['0', 'avc1'],
      ['100', 'av01'],
      ['200', 'hvc1'],
    ]);
    expect(duration).toBeCloseTo(4.267, 2);
    expect(playlists[1]?.segments.map(({ resolvedUri }) => resolvedUri)).toEqual([
      'http://localhost/1-1/r100-00001.m4s',
    ]);
  });
});

test('further codecs have the key frames of a source that is copied', async () => {
  const more = ['-g', '45', '-b:v', '200k', '-bf', '2', '-b_strategy', '0'];
  const clip = await makeClip({ seconds: 6, width: 320, height: 180, more });
  await using copied = await encodeFilm(clip, {
    ladder: { ...DEFAULT_LADDER, extraCodecs: ['av1', 'hevc'] },
  });
  expect(copied.warnings).toEqual([]);
  for (const name of ['r0.m3u8', 'r100.m3u8', 'r200.m3u8']) {
    expect(await keyframes({ url: copied.path(name), stream: 'v:0' }), name).toEqual([0, 1.5, 3, 4.5]);
    expect(await decode(copied.path(name)), name).toEqual(CLEAN);
  }
  const files = await manifestsOf(copied);
  expect([...checkHls(files), ...checkDash(files)]).toEqual([]);
});

async function parsePlaylist(name: string) {
  const parser = new Parser();
  parser.push(await readFile(film.path(name), 'utf8'));
  parser.end();
  return parser.manifest;
}
