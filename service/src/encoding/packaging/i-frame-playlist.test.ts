// Tests that I-frame playlists name the bytes of key frames, with a parser of others and with ffmpeg.
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm, type Film } from '../../../../test/support/clips/film.ts';
import { readKeyFrameRange } from '../model/key-frame-range.ts';
import { findIFrameTracks, formatIFrameStreams } from './i-frame-playlist.ts';
import { pictureTrack } from './tracks.fixture.ts';

type Segment = { uri: string; duration: number; byterange: { offset: number; length: number } };
type Playlist = {
  iFramesOnly: boolean;
  segments: Segment[];
  playlists: unknown[];
  iFramePlaylists: { uri: string; attributes: Record<string, unknown> }[];
};
/** The package has no types. */
const { Parser } = createRequire(import.meta.url)('m3u8-parser') as {
  Parser: new () => { push(text: string): void; end(): void; readonly manifest: Playlist };
};

let film: Film;
beforeAll(async () => {
  film = await encodeFilm(await makeClip({ seconds: 6, width: 426, height: 240 }));
});
afterAll(() => film[Symbol.asyncDispose]());

async function parse(name: string): Promise<Playlist> {
  const parser = new Parser();
  parser.push(await readFile(film.path(name), 'utf8'));
  parser.end();
  return parser.manifest;
}

test('the multivariant playlist names one for each video track', async () => {
  const { playlists, iFramePlaylists } = await parse('hls.m3u8');
  expect(playlists).toHaveLength(1);
  expect(iFramePlaylists).toMatchObject([
    {
      uri: '1-1/r0-iframes.m3u8',
      attributes: { RESOLUTION: { width: 426, height: 240 }, CODECS: expect.stringMatching(/^avc1\./) },
    },
  ]);
});

test('it lists one frame of each segment, and each can be decoded alone', async () => {
  const { iFramesOnly, segments } = await parse('r0-iframes.m3u8');
  expect(iFramesOnly).toBe(true);
  expect(segments.map(({ uri, duration }) => [uri, duration])).toEqual([
    ['r0-00001.m4s', 4],
    ['r0-00002.m4s', 2],
  ]);
  for (const { uri, byterange } of segments) {
    const bytes = await readFile(film.path(uri));
    expect(byterange.length).toBeLessThan(bytes.length / 4);
    const frame = film.path('frame.mp4');
    const part = bytes.subarray(byterange.offset, byterange.offset + byterange.length);
    await writeFile(frame, [await readFile(film.path('r0-init.mp4')), part]);
    const { stdout } = await promisify(execFile)(ffmpegPath(), [
      ...['-v', 'quiet', '-i', frame, '-frames:v', '1', '-f', 'framecrc', '-'],
    ]);
    expect(stdout.split('\n').filter((line) => line.startsWith('0,'))).toHaveLength(1);
    await rm(frame);
  }
});

describe('the first sample', () => {
  const box = (type: string, ...body: Uint8Array[]): Buffer => {
    const bytes = Buffer.concat(body);
    const head = Buffer.alloc(8, type.padStart(8));
    head.writeUInt32BE(8 + bytes.length);
    return Buffer.concat([head, bytes]);
  };
  const words = (...values: number[]): Buffer => {
    const bytes = Buffer.alloc(values.length * 4);
    for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
    return bytes;
  };
  const segment = (tfhd: Buffer, trun: Buffer): Buffer =>
    Buffer.concat([box('styp', words(0)), box('moof', box('traf', box('tfhd', tfhd), box('trun', trun)))]);

  test.each([
    ['with its own size', words(0x20000, 1), words(0x201, 2, 100, 5000, 60)],
    ['with duration and size', words(0x20000, 1), words(0x301, 1, 100, 40, 5000)],
    ['with the default size', words(0x20018, 1, 40, 5000), words(0x1, 9, 100)],
    ['with all defaults and flags', words(0x2003a, 1, 1, 40, 5000, 0x1010000), words(0x5, 9, 100, 0x2000000)],
  ])('%s', (_what, tfhd, trun) => {
    expect(readKeyFrameRange(segment(tfhd, trun))).toEqual({ start: 12, length: 5100 });
  });

  test.each([
    ['by its flags', words(0x20000, 1), words(0x601, 1, 100, 5000, 0x1010000)],
    ['by the first flags', words(0x20000, 1), words(0x205, 1, 100, 0x1010000, 5000)],
    ['by the default flags', words(0x20020, 1, 0x1010000), words(0x201, 1, 100, 5000)],
  ])('is no key frame %s', (_what, tfhd, trun) => {
    expect(readKeyFrameRange(segment(tfhd, trun))).toBeUndefined();
  });

  test('is not found in other bytes', () => {
    expect(() => readKeyFrameRange(new Uint8Array(64))).toThrow('moof');
    expect(() => readKeyFrameRange(segment(words(0, 1), words(0x1, 1, 100)))).toThrow('size');
    expect(() => readKeyFrameRange(segment(words(0, 1), words(0x200, 1, 100)))).toThrow('offset');
  });
});

test('a video of a week has one too', () => {
  const track = pictureTrack(0, { width: 426, height: 240, seconds: Array<number>(151_200).fill(4) });
  const segments = track.segments.map((segment) => ({ ...segment, keyFrame: { start: 100, length: 5000 } }));
  expect(formatIFrameStreams(findIFrameTracks([{ ...track, segments }]), '1-1')).toContain(
    'BANDWIDTH=10000,',
  );
});
