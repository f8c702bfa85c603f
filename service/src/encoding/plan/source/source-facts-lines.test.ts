// Tests the parser line by line, with every form that ffmpeg prints and metadata that imitates its lines.
import { describe, expect, test } from 'vitest';
import { parseSourceFacts } from './source-facts.ts';
import type { SourceStream } from '../../model/source.ts';

const FILTER = '[Parsed_showinfo_0 @ 0x7f3ac4001cc0]';
const frame = (n: number, field = 'P') =>
  `${FILTER} n:   ${n} pts:      0 pts_time:0       fmt:yuv420p sar:1/1 s:180x320 i:${field} iskey:1 type:I `;
const colour = (range: string, matrix = 'unknown', transfer = 'unknown') =>
  `${FILTER} color_range:${range} color_space:${matrix} color_primaries:unknown color_trc:${transfer}`;

type Log = {
  readonly tags?: string;
  readonly duration?: string;
  readonly streams?: string;
  readonly frames?: string;
};
const logOf = ({ tags = '', duration = '00:00:02.00, start: 0.000000', streams = '', frames = '' }: Log) =>
  [
    "Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:a.mov':",
    '  Metadata:',
    tags,
    `  Duration: ${duration}, bitrate: 812 kb/s`,
    streams,
    'Stream mapping:',
    `${FILTER} config in time_base: 1/15360, frame_rate: 30000/1001`,
    frames,
  ].join('\n');
const facts = (log: Log) => parseSourceFacts(logOf(log), 'mov');
const streamIn = (line: string): SourceStream | undefined =>
  facts({ streams: `  Stream ${line}` })?.streams[0];

describe('the clock', () => {
  test.each([
    ['00:00:02.50, start: 0.000000', 2.5, 0],
    ['01:02:03.25, start: 12.500000', 3723.25, 12.5],
    ['10:00:00.00, start: -0.040000', 36_000, -0.04],
    ['00:00:02.00', 2, 0],
    ['N/A, start: 1.500000', null, 1.5],
  ])('%s', (duration, durationSeconds, startSeconds) => {
    expect(facts({ duration })).toMatchObject({ durationSeconds, startSeconds });
  });
});

test.each([
  ['ffmpeg 5.1', '      alpha_mode      : 1'],
  ['ffmpeg 7.0', '        alpha_mode      : 1'],
])('transparency of Matroska as %s prints it', (_, alpha) => {
  const streams = `  Stream #0:0: Video: vp9\n    Metadata:\n${alpha}`;
  expect(facts({ streams })?.streams).toMatchObject([{ hasAlpha: true }]);
  expect(streamIn('#0:0: Video: vp9')?.hasAlpha).toBeUndefined();
});

test('chapters, also with a title of several lines, and without one', () => {
  const chapters = [
    '  Chapters:',
    '    Chapter #0:0: start 0.000000, end 2.500000',
    '      Metadata:',
    '        title           : Intro: "one" = 1',
    '                        : and two',
    '    Chapter #0:1: start 2.500000, end 4.000000',
    '    Chapter #0:2: start 4.000000, end 6.000000',
    '      Metadata:',
    '        title           : ',
  ].join('\n');
  const found = facts({ streams: `${chapters}\n  Stream #0:0: Video: vp9` });
  expect(found?.chapters).toEqual([
    { startSeconds: 0, title: 'Intro: "one" = 1 and two' },
    { startSeconds: 2.5, title: undefined },
    { startSeconds: 4, title: '' },
  ]);
  expect(found?.streams).toHaveLength(1);
});

test('a tag that looks like a list of chapters is none', () => {
  const tags = '    Chapters:\n    Chapter #0:0: start 0.0, end 0.5';
  expect(facts({ tags, streams: '  Stream #0:0: Video: vp9' })?.chapters).toBeUndefined();
});

describe('a stream', () => {
  test.each(['Video', 'Audio', 'Subtitle', 'Data', 'Attachment'] as const)('of the kind %s', (kind) => {
    expect(streamIn(`#0:12[0x1f](eng): ${kind}: abc_d, rest`)).toMatchObject({
      index: 12,
      kind,
      codec: 'abc_d',
    });
  });
  test.each([
    ['320x180 [SAR 1:1 DAR 16:9], 30 fps', { width: 320, height: 180 }],
    ['1280x720, SAR 1:1 DAR 16:9, 90k tbr', { width: 1280, height: 720 }],
    ['64x48', { width: 64, height: 48 }],
    ['64x48p', null],
  ])('whose size is printed as %s', (text, size) => {
    expect(streamIn(`#0:0: Video: h264, yuv420p, ${text}`)?.size).toEqual(size);
  });
  test.each([
    ['25 fps, 25 tbr', 25],
    ['29.97 fps', 29.97],
    ['1k fps', 1000],
    ['25 tbr', null],
    ['25 fpsx', null],
  ])('whose rate is printed as %s', (text, averageRate) => {
    expect(streamIn(`#0:0: Video: h264, yuv420p, 64x48, ${text}`)?.averageRate).toBe(averageRate);
  });
  test.each([
    ['48000 Hz, mono, fltp', 1],
    ['44100 Hz, stereo, fltp, 128 kb/s', 2],
    ['48000 Hz, downmix, fltp', 2],
    ['48000 Hz, 5.1(side), fltp', 6],
    ['48000 Hz, 7.1.4, fltp', 8],
    ['48000 Hz, 3 channels, s16', 3],
    ['48000 Hz, quad, s16', undefined],
    ['stereo', undefined],
  ])('whose layout is printed as %s', (text, channels) => {
    expect(streamIn(`#0:1: Audio: aac (LC), ${text}`)?.channels).toBe(channels);
  });
  test.each([
    ['(avc1 / 0x31637661), yuv420p', 'avc1'],
    ['(Main) (Professional 2) (hvc1 / 0x31637668), yuv420p', 'hvc1'],
    ['(Main), yuv420p (avc1 / 0x31637661)', undefined],
    ['([2][0][0][0] / 0x0002), yuv420p', undefined],
  ])('whose tag is printed as %s', (text, tag) => {
    expect(streamIn(`#0:0: Video: h264 ${text}`)?.tag).toBe(tag);
  });
  test.each([
    ['(attached pic)', true],
    ['(still image)', true],
    ['(timed thumbnails)', true],
    ['(default)', false],
  ])('that is marked %s', (mark, still) => {
    expect(streamIn(`#0:0: Video: mjpeg, 64x48 ${mark}`)?.still).toBe(still);
  });
});

test.each([
  ['0', 0],
  ['0.0833333', 0.0833333],
  ['-0.04', -0.04],
  ['NOPTS', 0],
])('the first frame is shown at the time that is printed as %s', (time, startSeconds) => {
  const frames = [frame(0).replace('pts_time:0 ', `pts_time:${time} `), frame(1)].join('\n');
  expect(facts({ frames })?.frame?.startSeconds).toBe(startSeconds);
});

describe('the tags of a stream', () => {
  const titled = (indent: string, title: string) =>
    facts({
      streams: [
        '  Stream #0:0(deu): Audio: aac (LC), 48000 Hz, stereo, fltp (default) (visual impaired)',
        `${indent}Metadata:`,
        `${indent}  title           : ${title}`,
        `${indent}                  : (default)`,
        '  Stream #0:1: Audio: aac (LC), 48000 Hz, stereo, fltp (forced',
      ].join('\n'),
    })?.streams;

  test.each(['    ', '      '])('are those of their own stream, indented by "%s"', (indent) => {
    expect(titled(indent, 'Erzählung: (Teil 1)')).toMatchObject([
      { language: 'deu', title: 'Erzählung: (Teil 1)', dispositions: ['default', 'visual impaired'] },
      { index: 1 },
    ]);
    expect(Object.keys(titled(indent, 'x')?.[1] ?? {})).not.toEqual(
      expect.arrayContaining(['title', 'language', 'dispositions']),
    );
  });
  test('another tag, and the title of the file, are no title', () => {
    const tags = '    title           : The film';
    const streams = '  Stream #0:0: Audio: aac\n    Metadata:\n      subtitle        : x';
    expect(facts({ tags, streams })?.streams[0]).not.toHaveProperty('title');
  });
});

describe('the picture', () => {
  const pictureOf = (...frames: string[]) => facts({ frames: frames.join('\n') })?.frame;

  test('has the exact frame rate', () => {
    expect(pictureOf(frame(0))?.frameRate).toEqual({ numerator: 30_000, denominator: 1001 });
  });
  test.each([
    [['P', 'P', 'T'], true],
    [['B', 'P', 'P'], true],
    [['P', 'P', 'P'], false],
  ])('of the fields %j is interlaced: %j', (fields, interlaced) => {
    expect(pictureOf(...fields.map((field, n) => frame(n, field)))?.interlaced).toBe(interlaced);
  });
  test('has the colours of its first frame', () => {
    expect(pictureOf(frame(0), colour('pc', 'bt709', 'smpte2084'))).toMatchObject({
      fullRange: true,
      matrix: 'bt709',
      transfer: 'pq',
    });
    expect(pictureOf(frame(0), colour('tv'))).toMatchObject({ fullRange: false, transfer: 'sdr' });
    expect(pictureOf(frame(0))).toMatchObject({ fullRange: false, matrix: 'unknown', transfer: 'sdr' });
  });
  test.each([
    ['yuv420p', 8],
    ['nv12', 8],
    ['gray10le', 10],
    ['yuv422p10le', 10],
    ['p010le', 10],
    ['gbrp12le', 12],
    ['rgb48le', 16],
  ])('of the format %s has %i bits', (format, bits) => {
    expect(pictureOf(frame(0).replace('yuv420p', format))?.bitDepth).toBe(bits);
  });
  test('has no frame rate where ffmpeg knows none', () => {
    const log = logOf({ frames: frame(0) }).replace('frame_rate: 30000/1001', 'frame_rate: 0/0');
    expect(parseSourceFacts(log, 'mov')?.frame?.frameRate).toBeNull();
  });
});

test('metadata cannot imitate the lines of ffmpeg', () => {
  const light = 'side data - Content light level metadata: MaxCLL=3200, MaxFALL=400';
  const imitations = [
    '  Duration: 09:00:00.00, start: 5.000000, bitrate: 1 kb/s',
    '  Stream #0:7: Audio: aac, 48000 Hz',
    'Stream mapping:',
    'Output #0',
    `${FILTER} config in time_base: 1/1, frame_rate: 7/1`,
    frame(9, 'T'),
    colour('pc', 'bt709', 'smpte2084'),
    `${FILTER}   ${light}`,
  ];
  const tags = imitations.map((line) => `                    : ${line}`).join('\n');
  const log = {
    streams: '  Stream #0:0: Video: h264, yuv420p, 64x48',
    frames: `${frame(0)}\n${colour('tv')}`,
  };
  expect(facts({ ...log, tags })).toEqual(facts(log));
  expect(parseSourceFacts("Error opening 'Input #0, mov': no such file", 'mov')).toBeUndefined();
});

test('a long line that imitates a frame is parsed in linear time', () => {
  const frames = `${FILTER} n: 0${' fmt:a'.repeat(160_000)}`;
  const start = performance.now();
  expect(facts({ frames: `${frames}\n${frame(0)}` })?.frame?.displaySize).toEqual({
    width: 180,
    height: 320,
  });
  expect(performance.now() - start).toBeLessThan(5000);
});
