// Tests which subtitle streams of a source become captions.
import { expect, test } from 'vitest';
import { chooseSubtitles } from './subtitle-streams.ts';

const list = (...lines: string[]): string =>
  ["Input #0, matroska,webm, from 'file:a':", ...lines, 'At least one output file must be specified'].join(
    '\n',
  );

test('text subtitles have the language, the title and the kind of their stream', () => {
  const log = list(
    '  Stream #0:0: Video: h264 (High), yuv420p, 320x180, 30 fps (default)',
    '  Stream #0:1(eng): Subtitle: ass (default) (hearing impaired)',
    '    Metadata:',
    '      title           : English (SDH)',
    '      DURATION        : 00:00:03.000000000',
    '  Stream #0:2[0x3](ger): Subtitle: mov_text (tx3g / 0x67337874), 0 kb/s',
    '    Metadata:',
    '      handler_name    : SubtitleHandler',
    '  Stream #0:3: Subtitle: subrip',
  );
  expect(chooseSubtitles(log)).toEqual([
    { index: 1, language: 'en', label: 'English (SDH)', kind: 'captions' },
    { index: 2, language: 'de', label: 'Deutsch', kind: 'subtitles' },
    { index: 3, language: 'und', label: 'Unknown language', kind: 'subtitles' },
  ]);
});

test('the title may be indented as ffmpeg 7 does', () => {
  const log = list('  Stream #0:1(eng): Subtitle: ass', '      Metadata:', '        title           : Signs');
  expect(chooseSubtitles(log)).toMatchObject([{ label: 'Signs' }]);
});

test('a language has one stream, forced ones last', () => {
  const log = list(
    '  Stream #0:1(eng): Subtitle: subrip (forced)',
    '  Stream #0:2(eng): Subtitle: subrip',
    '  Stream #0:3(eng): Subtitle: subrip',
    '  Stream #0:4(fre): Subtitle: webvtt (forced)',
  );
  expect(chooseSubtitles(log).map(({ index }) => index)).toEqual([2, 4]);
});

test('pictures are no captions, and metadata is no stream', () => {
  const log = list(
    '  Stream #0:1(eng): Subtitle: hdmv_pgs_subtitle',
    '  Stream #0:2(eng): Subtitle: dvd_subtitle, 320x180',
    '    Metadata:',
    '      title           : x',
    '                      :   Stream #0:9(eng): Subtitle: subrip',
  );
  expect(chooseSubtitles(log)).toEqual([]);
});

test('output streams do not count', () => {
  expect(chooseSubtitles('Input #0\nOutput #0\n  Stream #0:0(eng): Subtitle: webvtt')).toEqual([]);
});
