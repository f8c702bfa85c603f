// Tests that captions become WebVTT with nothing but cues, and that other files are refused with their line.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../platform/http/errors.ts';
import { cutCaptionFile, parseCaptionFile } from './caption-file.ts';

const HEAD = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n';
const parse = (text: string) => parseCaptionFile(Buffer.from(text));
const cuesOf = (text: string): string => parse(text).text.slice(HEAD.length + 1);

describe('WebVTT', () => {
  test('keeps cues with their settings, and tells where the last one ends', () => {
    const [first, last] = ['00:01.000 --> 00:02.500 line:0 align:start', '10:00:00.000 --> 10:00:01.000'];
    const text = `WEBVTT\n\n1\n${first}\nHello\nthere\n\n${last}\nBye\n`;
    expect(parse(text)).toEqual({
      text: `${HEAD}\n00:00:01.000 --> 00:00:02.500 line:0 align:start\nHello\nthere\n\n${last}\nBye\n`,
      endMs: 36_001_000,
    });
  });

  test('drops styles, regions, comments, identifiers and headers', () => {
    const text = `WEBVTT - Film\nKind: captions\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000

STYLE
::cue { background: url(https://example.com/x) }

STYLE
@import "https://example.com/x.css";

REGION
id:fred

NOTE A comment

fred
00:01.000 --> 00:02.000 region:fred
Text`;
    expect(cuesOf(text)).toBe('00:00:01.000 --> 00:00:02.000\nText\n');
  });

  test.each([
    ['line:-1,end position:10.5%,line-left size:0% vertical:rl', true],
    ['line:101% position:10 size:-1% vertical:up align:middle', false],
    ['onclick:alert(1) style:x url(x) line:1%;x', false],
  ])('settings %s', (settings, isKept) => {
    const kept = isKept ? ` ${settings}` : '';
    expect(cuesOf(`WEBVTT\n\n00:01.000 --> 00:02.000 ${settings}\na`)).toBe(
      `00:00:01.000 --> 00:00:02.000${kept}\na\n`,
    );
  });

  test.each(['\n', '\r\n', '\r'])(
    'lines may end with %j, and a byte order mark may stand before them',
    (end) => {
      const text = ['\uFEFFWEBVTT', '', '00:01.000 --> 00:02.000', 'a', 'b'].join(end);
      expect(cuesOf(text)).toBe('00:00:01.000 --> 00:00:02.000\na\nb\n');
    },
  );
});

describe('SubRip', () => {
  test('becomes WebVTT', () => {
    const text =
      '1\r\n00:00:01,000 --> 00:00:02,500 X1:1 X2:2\r\n<i>Hello</i>\r\n\r\n2\r\n0:00:03.5 --> 0:00:04\r\n';
    expect(() => parse(text)).toThrow(/^Line 6: /);
    expect(cuesOf(text.replace('04\r', '04,000\r'))).toBe(
      '00:00:01.000 --> 00:00:02.500\n<i>Hello</i>\n\n00:00:03.500 --> 00:00:04.000\n',
    );
  });

  test('may have blank lines within a cue, and numbers as text', () => {
    const text = '1\n00:00:01,000 --> 00:00:02,000\na\n\nb\n2\n00:00:03,000 --> 00:00:04,000\n1984\n';
    expect(cuesOf(text)).toBe('00:00:01.000 --> 00:00:02.000\na\nb\n\n00:00:03.000 --> 00:00:04.000\n1984\n');
  });

  test('is refused where the Content-Type says WebVTT', () => {
    const bytes = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\na\n');
    expect(() => parseCaptionFile(bytes, { mustBeVtt: true })).toThrow(/^Line 1: .*WEBVTT/);
  });
});

describe('refused with the line', () => {
  test.each([
    ['an empty file', '', 1],
    ['no cues', 'WEBVTT\n\nNOTE nothing\n', 4],
    ['a page', '<!DOCTYPE html>\n<script>alert(1)</script>', 1],
    ['a page that mentions an arrow', '<html>\n00:00:01,000 --> 00:00:02,000', 1],
    ['a playlist', '#EXTM3U\n#EXTINF:1,\na.ts', 1],
    ['a bad time', 'WEBVTT\n\n00:61.000 --> 00:62.000\na', 3],
    ['a time without an end', 'WEBVTT\n\n00:01.000 -->\na', 3],
    ['a cue that ends before it starts', 'WEBVTT\n\n00:02.000 --> 00:01.999\na', 3],
    ['a comma in WebVTT', 'WEBVTT\n\n00:01,000 --> 00:02,000\na', 3],
    ['a time after 1000 hours', 'WEBVTT\n\n00:01.000 --> 1000:00:00.000\na', 3],
    ['a very long cue', `WEBVTT\n\n00:01.000 --> 00:02.000\n${'a'.repeat(10_001)}`, 3],
    ['too many cues', `WEBVTT\n${'\n00:01.000 --> 00:02.000\na\n'.repeat(20_001)}`, 60_003],
  ])('%s', (_what, text, line) => {
    const details = { reason: 'invalid_captions', field: 'body', line };
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', details }));
  });

  test.each([
    ['Latin-1', Buffer.from('WEBVTT\n\n00:01.000 --> 00:02.000\ncaf\u00e9', 'latin1')],
    ['UTF-16', Buffer.from('\uFEFFWEBVTT\n\n00:01.000 --> 00:02.000\na', 'utf16le')],
    ['gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0xff, 0xfe])],
  ])('%s is not UTF-8', (_what, bytes) => expect(() => parseCaptionFile(bytes)).toThrow(/UTF-8/));
});

const line = fc.oneof(
  fc.constantFrom(
    '',
    'WEBVTT',
    'NOTE',
    'STYLE',
    '00:01.000 --> 00:02.000',
    '1',
    '<i>a',
    '--',
    '\u0000',
    ' \t',
  ),
  fc.string({ unit: 'binary' }),
);
const file = fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n'));

test('any file is refused, or becomes WebVTT that is parsed to itself', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        file,
        file.map((text) => `WEBVTT\n\n${text}`),
      ),
      (text) => {
        try {
          const parsed = parse(text.toWellFormed());
          expect(parse(parsed.text)).toEqual(parsed);
          expect(parsed.text).not.toMatch(/(?![\t\n])\p{Cc}|\n\n(?!\d)|\n\n\n/u);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          expect(error.code).toBe('BAD_REQUEST');
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('a megabyte of anything takes no more than seconds', () => {
  const megabyte = 1024 * 1024;
  for (const text of ['<', '&', '-->', '<b>', '{\\', '\n', ' ', '<v ', '00:', '&#', '.'])
    for (const head of ['', 'WEBVTT\n\n00:01.000 --> 00:02.000 ', 'WEBVTT\n\n00:01.000 --> 00:02.000\n'])
      for (const tail of ['', '\u2028']) {
        const bytes = Buffer.from(head + text.repeat(Math.floor((megabyte - 100) / text.length)) + tail);
        const start = performance.now();
        expect(() => parseCaptionFile(bytes) && undefined).not.toThrow(RangeError);
        expect(performance.now() - start).toBeLessThan(5000);
      }
});

describe('a part of a WebVTT file', () => {
  const cue = (from: string, to: string) => `00:${from}.000 --> 00:${to}.000\n${from}\n`;
  const text = `WEBVTT\n\n${[cue('01', '02'), cue('03', '05'), cue('06', '07'), cue('08', '10')].join('\n')}`;
  const cut = (startMs: number, endMs: number) => cutCaptionFile(Buffer.from(text), { startMs, endMs });

  test('has the cues that are shown in it, with times from its start', () => {
    expect(cut(4000, 9000)?.slice(HEAD.length + 1)).toBe(
      [
        '00:00:00.000 --> 00:00:01.000\n03\n',
        '00:00:02.000 --> 00:00:03.000\n06\n',
        '00:00:04.000 --> 00:00:05.000\n08\n',
      ].join('\n'),
    );
  });

  test('is undefined without cues', () => {
    expect(cut(2000, 3000)).toBeUndefined();
    expect(cutCaptionFile(Buffer.from('WEBVTT\n'), { startMs: 0, endMs: 1000 })).toBeUndefined();
  });
});
