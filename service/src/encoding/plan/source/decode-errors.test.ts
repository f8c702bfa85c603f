// Tests which lines of ffmpeg 5.1 and 7.0 stand for pictures and sound that cannot be decoded.
import { expect, test } from 'vitest';
import { countDecodeErrors, parseDecodeError } from './decode-errors.ts';

test.each([
  ['[vist#0:1/h264 @ 0x1] [dec:h264 @ 0x2] corrupt decoded frame', { kind: 'incomplete', stream: 1 }],
  ['file:/tmp/a stream 7/b.mp4: corrupt decoded frame in stream 1', { kind: 'incomplete', stream: 1 }],
  [
    '[aist#0:2/aac @ 0x1] [dec:aac @ 0x2] Error submitting packet to decoder: Invalid data found',
    { kind: 'lost', stream: 2 },
  ],
  ['Error while decoding stream #0:2: Invalid data found', { kind: 'lost', stream: 2 }],
  ['Error while decoding stream #0:2: Resource temporarily unavailable', undefined],
  ['[h264 @ 0x1] error while decoding MB 0 3, bytestream -5', undefined],
  ['[hevc @ 0x1] Could not find ref with POC 4', undefined],
  ['[h264 @ 0x1] non-existing PPS 0 referenced', undefined],
  ['[mpegts @ 0x1] Packet corrupt (stream = 0, dts = 126000).', undefined],
  ['  title : corrupt decoded frame in stream', undefined],
])('%s', (line, error) => expect(parseDecodeError(line)).toEqual(error));

test('errors of other streams than the chosen picture are of sound', () => {
  const { read, counts } = countDecodeErrors(1);
  for (const stream of [1, 1, 0, 2, 2]) read(`Error while decoding stream #0:${stream}: Invalid data`);
  expect(counts()).toEqual({ pictures: 2, sound: 3 });
});
