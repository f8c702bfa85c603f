// Tests what closed captions show, and when: line 21 captions in all their modes, and digital ones.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  codes,
  type Pair,
  type Programme,
  type Triplet,
  bytesOf,
  dtvccPacket,
  onSecondChannel,
  schedule,
  text,
  toTriplets,
  tripletBytes,
} from '../../../../test/support/clips/caption-bytes.ts';
import { createClosedCaptionDecoder } from './closed-captions.ts';

const FPS = 30;

/** The files of a programme by the names of their channels. `order`: that of the pictures in the file. */
function decode(programme: Programme, order = [...programme.keys()]): Record<string, string> {
  const decoder = createClosedCaptionDecoder();
  for (const frame of order)
    decoder.push({ seconds: frame / FPS, data: [tripletBytes(programme.get(frame) ?? [])] });
  return Object.fromEntries(decoder.finish(60).map(({ name, vtt }) => [name, vtt]));
}

const line21 = (parts: Record<number, readonly Pair[]>, type: 0 | 1 = 0) =>
  decode(
    schedule(
      Object.fromEntries(Object.entries(parts).map(([frame, pairs]) => [frame, toTriplets(pairs, type)])),
    ),
  );

/** Cues without the head of the file. */
const cues = (vtt = ''): string[] =>
  vtt
    .split('\n\n')
    .slice(1)
    .map((cue) => cue.trim());

const popOn = (...pairs: readonly Pair[]): Pair[] => [
  ...codes.RCL,
  ...codes.ENM,
  ...codes.ROW15,
  ...pairs,
  ...codes.EOC,
];

describe('line 21', () => {
  test('shows pop-on captions from their end on, until they are erased', () => {
    expect(line21({ 0: popOn(...text('Hello')), 30: codes.EDM })).toEqual({
      CC1: 'WEBVTT\n\n00:00:00.300 --> 00:00:01.000\nHello\n',
    });
  });

  test('shows the last caption for 16 seconds, if nothing follows', () => {
    expect(cues(line21({ 0: popOn(...text('Hi')) })['CC1'])).toEqual(['00:00:00.233 --> 00:00:16.233\nHi']);
  });

  test('sorts pictures that are stored out of order', () => {
    const programme = schedule({ 0: toTriplets(popOn(...text('In order'))), 30: toTriplets(codes.EDM) });
    const frames = [...programme.keys()];
    // Three of four frames come after the one that they refer to.
    const stored = frames.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
    expect(stored).not.toEqual([...frames.keys()]);
    expect(
      decode(
        programme,
        stored.map((index) => frames[index] ?? 0),
      ),
    ).toEqual(decode(programme));
  });

  test('rolls captions up, and paints others row by row', () => {
    const rolled = line21({
      0: [...codes.RU2, ...codes.CR, ...text('one')],
      30: [...codes.CR, ...text('two')],
      60: [...codes.CR, ...text('three')],
      90: codes.EDM,
    });
    expect(cues(rolled['CC1'])).toEqual([
      '00:00:00.133 --> 00:00:01.000\none',
      '00:00:01.000 --> 00:00:02.000\none\ntwo',
      '00:00:02.000 --> 00:00:03.000\ntwo\nthree',
    ]);
    const painted = line21({
      0: [...codes.RDC, ...codes.ROW14, ...text('upper')],
      30: [...codes.ROW15, ...text('lower')],
      60: codes.EDM,
    });
    expect(cues(painted['CC1'])).toEqual([
      '00:00:00.133 --> 00:00:01.000\nupper',
      '00:00:01.000 --> 00:00:02.000\nupper\nlower',
    ]);
  });

  test('keeps italics, and captions at the top of the picture', () => {
    const shown = line21({
      0: [
        ...codes.RCL,
        ...codes.ROW1,
        ...text('a & b'),
        ...codes.ITALIC,
        ...text('<c>'),
        ...codes.PLAIN,
        ...text('d'),
        ...codes.EOC,
      ],
      40: codes.EDM,
    });
    expect(cues(shown['CC1'])).toEqual([
      '00:00:00.467 --> 00:00:01.333 line:10%\na &amp; b <i>&lt;c&gt;</i> d',
    ]);
  });

  test('reads special and extended characters, backspaces and tabs', () => {
    const shown = line21({
      0: popOn(
        ...text('cafe'),
        ...codes.BS,
        ...text('\x5c'),
        ...twice(0x11, 0x37),
        ...text('U'),
        ...twice(0x12, 0x24),
        ...codes.TAB2,
        ...text('x'),
      ),
      60: codes.EDM,
    });
    expect(cues(shown['CC1'])).toEqual(['00:00:00.633 --> 00:00:02.000\ncafé♪Ü x']);
  });

  test('separates the four channels, and names them', () => {
    const parts = { 0: popOn(...text('one')), 20: onSecondChannel(popOn(...text('two'))), 40: codes.EDM };
    const first = schedule(mapValues(parts, (pairs) => toTriplets(pairs)));
    const both = new Map(
      [...first].map(([frame, triplets]) => [frame, [...triplets, ...toField2(triplets)]]),
    );
    expect(Object.keys(decode(both))).toEqual(['CC1', 'CC2', 'CC3', 'CC4']);
    expect(decode(both)['CC2']).toContain('\ntwo\n');
    expect(decode(both)['CC3']).toBe(decode(both)['CC1']);
  });

  test('ignores text that is no caption, extended data, wrong parity and padding', () => {
    expect(line21({ 0: [...codes.TR, ...text('a page of text')] })).toEqual({});
    const data: Pair[] = [[0x01, 0x03], ...text('Programme'), [0x0f, 0x1d]];
    expect(line21({ 0: [...popOn(...text('Hi')), ...data], 60: codes.EDM }, 1)).toMatchObject({
      CC3: expect.not.stringContaining('Programme'),
    });
    const wrong = toTriplets(popOn(...text('Hi'))).map(([type, a, b]) => [type, a, b ^ 0x80] as const);
    expect(decode(schedule({ 0: wrong }))).toEqual({});
    expect(decode(schedule({ 0: toTriplets(Array.from({ length: 60 }, () => [0, 0] as const)) }))).toEqual(
      {},
    );
  });
});

const twice = (...pair: Pair): Pair[] => [pair, pair];
const rank = (index: number): number => index - (index % 4) + (index % 4 === 3 ? 0 : 1 + (index % 4));
const toField2 = (triplets: readonly Triplet[]): Triplet[] =>
  triplets.map(([, first, second]) => [1, first, second]);
const mapValues = <T, U>(parts: Record<number, T>, change: (value: T) => U): Record<number, U> =>
  Object.fromEntries(Object.entries(parts).map(([key, value]) => [key, change(value)]));

/** A window of two rows, at the bottom unless `vertical` is small; it may be visible at once. */
const define = (isVisible: boolean, vertical = 74): number[] => {
  const anchor = vertical < 37 ? 0x01 : 0x71;
  return [0x98, isVisible ? 0x20 : 0, vertical, 50, anchor, 31, 0x11];
};
const DISPLAY = [0x89, 0x01];
const HIDE = [0x8a, 0x01];

const digital = (parts: Record<number, readonly number[]>, service = 1) =>
  decode(schedule(mapValues(parts, (block) => dtvccPacket(service, block))));

describe('digital captions', () => {
  test('are shown while their window is', () => {
    const shown = digital({ 0: [...define(false), ...bytesOf('Hello')], 30: DISPLAY, 60: HIDE });
    expect(shown).toEqual({ 'Service 1': 'WEBVTT\n\n00:00:01.033 --> 00:00:02.033\nHello\n' });
  });

  test('roll up in a visible window, and may be italic, elsewhere, and of other characters', () => {
    const shown = digital({
      0: [...define(true), ...bytesOf('one'), 0x0d, ...bytesOf('two')],
      30: [0x0d, 0x90, 0x05, 0x80, ...bytesOf('three'), 0x10, 0x39, 0x7f, 0xe9],
      60: [0x8c, 0xff, ...define(true, 0), ...bytesOf('up')],
      90: [0x8f],
    });
    expect(cues(shown['Service 1'])).toEqual([
      '00:00:00.233 --> 00:00:01.233\none\ntwo',
      '00:00:01.233 --> 00:00:02.200\ntwo\n<i>three™♪é</i>',
      '00:00:02.200 --> 00:00:03.033 line:10%\nup',
    ]);
  });

  test('of further services have names of their own, and those of unusual ones are ignored', () => {
    const block = [...define(true), ...bytesOf('Hola')];
    expect(Object.keys(digital({ 0: block }, 2))).toEqual(['Service 2']);
    expect(digital({ 0: block }, 9)).toEqual({});
  });

  test('are not used beside line 21', () => {
    const both = new Map([
      ...schedule({ 0: toTriplets(popOn(...text('analog'))) }),
      ...schedule({ 60: dtvccPacket(1, [...define(true), ...bytesOf('digital')]) }),
    ]);
    expect(Object.keys(decode(both))).toEqual(['CC1']);
  });
});

test('any bytes are decoded without an error, to valid times and limited text', () => {
  const anyTriplet = fc.tuple(
    fc.constantFrom(0xfc, 0xfd, 0xfe, 0xff, 0xf8, 0x00),
    fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x94, 0x15, 0x1c, 0x98, 0x89)),
    fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0x20, 0x25, 0x2c, 0xad, 0x2f)),
  );
  const anyPicture = fc.record({
    seconds: fc.double({ min: -100, max: 100, noNaN: true }),
    data: fc.array(
      fc.array(anyTriplet, { maxLength: 31 }).map((triplets) => Uint8Array.from(triplets.flat())),
      { maxLength: 2 },
    ),
  });
  fc.assert(
    fc.property(fc.array(anyPicture, { maxLength: 60 }), (pictures) => {
      const decoder = createClosedCaptionDecoder();
      for (const picture of pictures) decoder.push(picture);
      for (const { vtt } of decoder.finish(100)) {
        expect(vtt).toMatch(/^WEBVTT\n\n/);
        expect(vtt).not.toContain('NaN');
        // At most two changes for each pair of bytes, with the text of eight windows.
        expect(vtt.length).toBeLessThan(pictures.length * 124 * 8 * 16 * 42 * 8);
      }
    }),
    { numRuns: 300 },
  );
});

test('captions that change without end are more than a file may have, and no more', () => {
  const decoder = createClosedCaptionDecoder();
  const [shown, erased] = [[...codes.RDC, ...text('flicker!')], codes.EDM].map((pairs) =>
    tripletBytes(toTriplets(pairs)),
  ) as [Uint8Array, Uint8Array];
  for (let frame = 0; frame < 45_000; frame += 1)
    decoder.push({ seconds: frame / FPS, data: [frame % 2 === 0 ? shown : erased] });
  const [{ vtt } = { vtt: '' }] = decoder.finish(null);
  expect(cues(vtt)).toHaveLength(20_001);
});
