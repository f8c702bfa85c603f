// Tests which subtitle streams of a source become captions.
import { expect, test } from 'vitest';
import { parseSourceFacts } from './source-facts.ts';
import { chooseSubtitles } from './subtitle-streams.ts';

const chosenFrom = (...lines: string[]) => {
  const log = [...lines, 'At least one output file must be specified'].join('\n');
  return chooseSubtitles(parseSourceFacts(log, 'matroska')?.streams ?? []);
};
const INPUT = "Input #0, matroska,webm, from 'file:a':";
const list = (...lines: string[]) => chosenFrom(INPUT, ...lines);

test('text subtitles have the language, the title and the kind of their stream', () => {
  const chosen = list(
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
  expect(chosen).toEqual([
    { index: 1, language: 'en', label: 'English (SDH)', kind: 'captions' },
    { index: 2, language: 'de', label: 'Deutsch', kind: 'subtitles' },
    { index: 3, language: 'und', label: 'Unknown language', kind: 'subtitles' },
  ]);
});

test('the title may be indented as ffmpeg 7 does', () => {
  const chosen = list(
    '  Stream #0:1(eng): Subtitle: ass',
    '      Metadata:',
    '        title           : Signs',
  );
  expect(chosen).toMatchObject([{ label: 'Signs' }]);
});

test('a language has one stream, forced ones last', () => {
  const chosen = list(
    '  Stream #0:1(eng): Subtitle: subrip (forced)',
    '  Stream #0:2(eng): Subtitle: subrip',
    '  Stream #0:3(eng): Subtitle: subrip',
    '  Stream #0:4(fre): Subtitle: webvtt (forced)',
  );
  expect(chosen.map(({ index }) => index)).toEqual([2, 4]);
});

test('pictures are no captions, and metadata is no stream', () => {
  const chosen = list(
    '  Stream #0:1(eng): Subtitle: hdmv_pgs_subtitle',
    '  Stream #0:2(eng): Subtitle: dvd_subtitle, 320x180',
    '    Metadata:',
    '      title           : x',
    '                      :   Stream #0:9(eng): Subtitle: subrip',
  );
  expect(chosen).toEqual([]);
});

test('output streams do not count', () => {
  expect(chosenFrom('Input #0, ogg', 'Output #0', '  Stream #0:0(eng): Subtitle: webvtt')).toEqual([]);
});
