// Tests the parser with packet lists as ffmpeg prints them.
import { describe, expect, test } from 'vitest';
import { openPacketList } from './source-timeline.ts';

const LIST = `#software: Lavf61.1.100
#tb 0: 1/12288
#media_type 0: video
#codec_id 0: h264
#tb 1: 1/44100
#sample_rate 1: 44100
0,     119296,     120832,      512,      182, 0x429354d9, F=0x0
1,     436224,     436224,      366,        7, 0x0a1b030a
0,     120320,     119296,      512,      182, 0x429354d9, F=0x0
1,      -1024,      -1024,     1024,       23, 0x0a1b030a, S=1,       10
`;

const ends = (list: string, start = 0) => {
  const { read, ends } = openPacketList(start);
  for (const line of list.split('\n')) read(line);
  return Object.fromEntries(ends);
};

describe('packet ends', () => {
  test('the latest end of each stream, not that of its last packet', () => {
    expect(ends(LIST)).toEqual({ 0: 121344 / 12288, 1: 436590 / 44100 });
  });
  test('counted from where the file starts', () =>
    expect(ends(LIST, 1.5)[0]).toBeCloseTo(121344 / 12288 - 1.5));
  test('a packet without a time is passed over', () => {
    expect(ends('#tb 0: 1/1000\n0, NOPTS, NOPTS, 40, 9, 0x1\n0, NOPTS, 960, 40, 9, 0x1\n')).toEqual({ 0: 1 });
  });
  test.each(['NOPTS', '-9223372036854775808'])(
    'a frame that is shown at %s has its decoding time',
    (none) => {
      expect(ends(`#tb 0: 1/1000\n0, 960, ${none}, 40, 9, 0x1\n0, ${none}, ${none}, 40, 9, 0x1\n`)).toEqual({
        0: 1,
      });
    },
  );
  test('no packets, no ends', () => expect(ends('engine_pid=7\n#tb 0: 1/1000\n')).toEqual({}));
});
