// Tests the box parser with boxes in the layout that ffmpeg writes.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSegmentTimes, readTrackHeader } from './mp4-boxes.ts';

const box = (type: string, ...parts: (Uint8Array | string)[]): Buffer => {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part.replaceAll(' ', ''), 'hex') : part)),
  );
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
};
const u32 = (value: number) => value.toString(16).padStart(8, '0');

const mdhd = (timescale: number) =>
  box('mdhd', '00000000', u32(0), u32(0), u32(timescale), u32(0), '55c40000');
const wideMdhd = (timescale: number) =>
  box('mdhd', '01000000', '0'.repeat(32), u32(timescale), '0'.repeat(16), '55c40000');
const init = (header: Buffer, entry: Buffer) =>
  Buffer.concat([
    box('ftyp', '69736f35'),
    box(
      'moov',
      box('mvhd', '0'.repeat(200)),
      box(
        'trak',
        box('tkhd', '0'.repeat(168)),
        box(
          'mdia',
          header,
          box('hdlr', '0'.repeat(66)),
          box('minf', box('stbl', box('stsd', '00000000 00000001', entry), box('stts', '0'.repeat(16)))),
        ),
      ),
    ),
  ]);

const avcC = box(
  'avcC',
  '0164001e ffe1001e 6764001e acd940a0 2ff97016 a0202028 00000300 80000003 01e078b1 ' +
    '6cb01000 468ef8fc bfdf8f80',
);
const avc1 = (width: number, height: number) =>
  box(
    'avc1',
    '0'.repeat(48),
    width.toString(16).padStart(4, '0'),
    height.toString(16).padStart(4, '0'),
    '0'.repeat(100),
    avcC,
    box('pasp', u32(1), u32(1)),
  );
const entryOf = (type: string, configuration: Buffer) =>
  box(type, '0'.repeat(48), '0280 0168', '0'.repeat(100), configuration);
const hvc1 = (record: string) => entryOf('hvc1', box('hvcC', record, '0'.repeat(20)));
const av01 = (record: string) => entryOf('av01', box('av1C', record));
const esds = box(
  'esds',
  '00000000 03808080 25000100 04808080 17401500 00000001 f4000001 f4000580 80800511 9056e500 06808080 0102',
);
const mp4a = box('mp4a', '0'.repeat(56), esds);

const sidx = (start: bigint, durations: readonly number[], wide = true) =>
  box(
    'sidx',
    wide ? '01000000' : '00000000',
    u32(1),
    u32(15360),
    start.toString(16).padStart(wide ? 16 : 8, '0'),
    '0'.repeat(wide ? 16 : 8),
    '0000',
    durations.length.toString(16).padStart(4, '0'),
    ...durations.map((duration) => `${u32(4242)}${u32(duration)}80000000`),
  );
const segment = (index: Buffer) =>
  Buffer.concat([box('styp', '6d736468'), index, box('moof', '00'), Buffer.from('7fffffff6d646174', 'hex')]);

describe('track header', () => {
  test('a video track: timescale, profile, level and size', () => {
    expect(readTrackHeader(init(mdhd(15360), avc1(640, 360)))).toEqual({
      timescale: 15360,
      codec: 'avc1.64001e',
      size: { width: 640, height: 360 },
    });
  });
  test.each([
    ['8-bit, as libx265 writes it', hvc1('01 01 60000000 900000000000 3f'), 'hvc1.1.6.L63.90'],
    ['10-bit, high tier', hvc1('01 22 20000000 b00000000000 99'), 'hvc1.2.4.H153.B0'],
    ['without constraints', hvc1('01 01 60000000 000000000000 5d'), 'hvc1.1.6.L93'],
    ['with a late constraint', hvc1('01 04 10000000 b90008000000 5d'), 'hvc1.4.8.L93.B9.0.8'],
    ['in a profile space', hvc1('01 41 60000000 000000000000 1e'), 'hvc1.A1.6.L30'],
  ])('HEVC %s', (_, entry, codec) =>
    expect(readTrackHeader(init(mdhd(15360), entry))).toEqual({
      timescale: 15360,
      codec,
      size: { width: 640, height: 360 },
    }),
  );
  test.each([
    ['8-bit, as libsvtav1 writes it', '81 01 0c 00', 'av01.0.01M.08'],
    ['10-bit, level 5.1, high tier', '81 0d cc 00', 'av01.0.13H.10'],
    ['12-bit professional', '81 48 6c 00', 'av01.2.08M.12'],
  ])('AV1 %s', (_, record, codec) =>
    expect(readTrackHeader(init(mdhd(15360), av01(record))).codec).toBe(codec),
  );
  const COLOUR = '6e636c78 0009 0010 0009 00';
  const withColour = (type: string, configuration: Buffer, colr: string) =>
    readTrackHeader(
      init(
        mdhd(15360),
        entryOf(type, Buffer.concat([configuration, box('fiel', '0100'), box('colr', colr)])),
      ),
    );
  const av1C = box('av1C', '81 05 4d 00');
  const hvcC = box('hvcC', '01 02 20000000 900000000000 5d', '0'.repeat(20));

  test('the colours of a video track', () => {
    expect(withColour('hvc1', hvcC, COLOUR)).toMatchObject({
      codec: 'hvc1.2.4.L93.90',
      colour: { primaries: 9, transfer: 16, matrix: 9, isFullRange: false },
    });
    expect(withColour('hvc1', hvcC, '6e636c78 000c 000d 0001 80').colour).toEqual({
      primaries: 12,
      transfer: 13,
      matrix: 1,
      isFullRange: true,
    });
  });
  test.each([
    ['in PQ', COLOUR, 'av01.0.05M.10.0.111.09.16.09.0'],
    ['in HLG with the full range', '6e636c78 0009 0012 0009 80', 'av01.0.05M.10.0.111.09.18.09.1'],
    ['in BT.709', '6e636c78 0001 0001 0001 00', 'av01.0.05M.10'],
  ])('AV1 %s', (_, colr, codec) => expect(withColour('av01', av1C, colr).codec).toBe(codec));
  test.each(['70726f66 0000', '6e636c63 0009 0010 0009', '6e636c78 0009'])(
    'a colour profile or a box that is cut off is no colour: %s',
    (colr) => expect(withColour('av01', av1C, colr)).not.toHaveProperty('colour'),
  );
  test('an audio track: AAC-LC from the nested descriptors', () => {
    expect(readTrackHeader(init(mdhd(48000), mp4a))).toEqual({
      timescale: 48000,
      codec: 'mp4a.40.2',
      size: null,
    });
  });
  test('a header with times of 64 bits', () =>
    expect(readTrackHeader(init(wideMdhd(90000), mp4a)).timescale).toBe(90000));
  test('the bytes may be a view into a larger buffer', () => {
    const padded = Buffer.concat([Buffer.alloc(13), init(mdhd(15360), avc1(640, 360))]);
    expect(readTrackHeader(padded.subarray(13)).codec).toBe('avc1.64001e');
  });
  test('another codec is an error', () =>
    expect(() => readTrackHeader(init(mdhd(1), box('vp09', '00')))).toThrow('unexpected sample entry vp09'));
  test('an empty init is an error', () =>
    expect(() => readTrackHeader(new Uint8Array())).toThrow('box moov is missing'));
});

describe('segment times', () => {
  test('one reference, as ffmpeg writes it', () =>
    expect(readSegmentTimes(segment(sidx(61440n, [30720])))).toEqual({ start: 61440, duration: 30720 }));
  test('several references are summed', () =>
    expect(readSegmentTimes(segment(sidx(0n, [10, 20, 30])))).toEqual({ start: 0, duration: 60 }));
  test('times of 32 bits', () =>
    expect(readSegmentTimes(segment(sidx(7n, [5], false)))).toEqual({ start: 7, duration: 5 }));
  test('times beyond 32 bits', () =>
    expect(readSegmentTimes(segment(sidx(2n ** 40n, [5]))).start).toBe(2 ** 40));
  test('the samples need not be there', () =>
    expect(readSegmentTimes(segment(sidx(0n, [5])).subarray(0, 100))).toEqual({ start: 0, duration: 5 }));
  test('an index that is cut off is an error', () =>
    expect(() => readSegmentTimes(segment(sidx(0n, [5])).subarray(0, 40))).toThrow('box sidx is missing'));

  test('any bytes end in times or in an error, at once', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 256 }), (bytes) => {
        try {
          const { start, duration } = readSegmentTimes(bytes);
          expect([Number.isFinite(start), Number.isFinite(duration)]).toEqual([true, true]);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }),
    );
  });
});
