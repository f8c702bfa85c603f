// Tests which unusual properties are read from the facts of ffmpeg.
import { describe, expect, test } from 'vitest';
import { toWarnings } from '@mediary/media-rules/warnings';
import { FRAME as SDR_FRAME } from '../../model/source.fixture.ts';
import type { FrameFacts, SourceFacts, SourceStream } from '../../model/source.ts';
import { toTraits, toVideoFacts } from './source-traits.ts';

const FRAME: FrameFacts = { ...SDR_FRAME, frameRate: { numerator: 30, denominator: 1 } };
const UNKNOWN = { size: null, averageRate: null, still: false };
const VIDEO: SourceStream = {
  ...UNKNOWN,
  index: 0,
  kind: 'Video',
  codec: 'h264',
  averageRate: 30,
  size: { width: 640, height: 360 },
};
const AUDIO: SourceStream = { ...UNKNOWN, index: 1, kind: 'Audio', codec: 'aac', channels: 2 };
const SUBTITLE: SourceStream = { ...UNKNOWN, index: 2, kind: 'Subtitle', codec: 'dvd_subtitle' };

type TraitSource = {
  readonly frame?: Partial<FrameFacts>;
  readonly video?: Partial<SourceStream>;
  readonly audioStreams?: readonly SourceStream[];
  readonly streams?: readonly SourceStream[];
  readonly chapters?: SourceFacts['chapters'];
};
const codesOf = ({ frame, video, audioStreams = [AUDIO], streams = [], chapters }: TraitSource) =>
  toWarnings(
    toTraits(
      { streams: [...streams], ...(chapters && { chapters }) },
      { video: { ...VIDEO, ...video }, audioStreams, frame: { ...FRAME, ...frame } },
    ),
  ).map(({ code }) => code);

describe('the traits of a source', () => {
  test('that is ordinary cause no warning', () => expect(codesOf({ streams: [VIDEO, AUDIO] })).toEqual([]));
  test.each<[string, TraitSource]>([
    ['hdr', { frame: { transfer: 'pq' } }],
    ['hdr', { frame: { transfer: 'hlg' } }],
    ['interlaced', { frame: { interlaced: true } }],
    ['variable_frame_rate', { video: { averageRate: 20 } }],
    ['low_frame_rate', { frame: { frameRate: null }, video: { averageRate: 5 } }],
    [
      'low_frame_rate',
      { frame: { frameRate: { numerator: 5, denominator: 1 } }, video: { averageRate: null } },
    ],
    ['odd_dimensions', { video: { size: { width: 641, height: 360 } } }],
    ['no_audio', { audioStreams: [] }],
    [
      'multiple_audio_tracks',
      { audioStreams: [AUDIO, { ...UNKNOWN, index: 2, kind: 'Audio', codec: 'dts' }] },
    ],
    ['surround_audio', { audioStreams: [{ ...AUDIO, channels: 6 }] }],
    ['subtitles_dropped', { streams: [VIDEO, AUDIO, SUBTITLE] }],
    [
      'subtitles_forced',
      { streams: [VIDEO, AUDIO, { ...SUBTITLE, codec: 'subrip', dispositions: ['forced'] }] },
    ],
    ['alpha_dropped', { video: { hasAlpha: true } }],
    ['alpha_dropped', { frame: { pixelFormat: 'yuva444p12le' } }],
    ['alpha_dropped', { frame: { pixelFormat: 'gbrap' } }],
    ['chapters_dropped', { chapters: Array.from({ length: 101 }, () => ({ startSeconds: 0, title: 'a' })) }],
  ])('cause %s for %j', (code, source) => expect(codesOf(source)).toEqual([code]));
  test('text subtitles cause none: they become captions', () => {
    expect(codesOf({ streams: [VIDEO, AUDIO, { ...SUBTITLE, codec: 'ass' }] })).toEqual([]);
  });
  test('further text subtitles in a language cause one: a language has one track of captions', () => {
    const text = { ...SUBTITLE, codec: 'ass' };
    const french = { ...text, index: 3, language: 'fre' };
    expect(codesOf({ streams: [VIDEO, AUDIO, text, french] })).toEqual([]);
    expect(codesOf({ streams: [VIDEO, AUDIO, text, french, { ...french, index: 4 }] })).toEqual([
      'subtitles_dropped',
    ]);
  });
  test('cause none where ffmpeg knows neither size nor rate', () => {
    expect(codesOf({ frame: { frameRate: null }, video: { averageRate: null, size: null } })).toEqual([]);
  });
});

describe('the facts of the video stream', () => {
  const factsOf = ({ frame, video }: TraitSource) =>
    toVideoFacts({ video: { ...VIDEO, ...video }, frame: { ...FRAME, ...frame } });
  const ntsc = { numerator: 30_000, denominator: 1001 };
  test.each<[TraitSource, object]>([
    [{}, { codec: 'h264', fps: 30, hdr: false, bit_depth: 8 }],
    [{ video: { averageRate: null }, frame: { frameRate: ntsc } }, { fps: 29.97 }],
    [{ video: { averageRate: 23.98 }, frame: { frameRate: ntsc } }, { fps: 23.98 }],
    [{ video: { averageRate: null }, frame: { frameRate: null } }, { fps: null }],
    [
      { video: { codec: 'hevc' }, frame: { transfer: 'pq', bitDepth: 10 } },
      { codec: 'hevc', hdr: true, bit_depth: 10 },
    ],
    [{ frame: { transfer: 'hlg' } }, { hdr: true }],
  ])('%j', (source, expected) => expect(factsOf(source)).toMatchObject(expected));
});
