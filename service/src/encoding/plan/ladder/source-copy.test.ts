// Tests which video streams can be played without encoding, and whether they stay in the ladder.
import { describe, expect, test } from 'vitest';
import { chooseLadder } from './ladder.ts';
import { canCopy, chooseCopyUse } from './source-copy.ts';
import { openPacketReader } from '../source/video-packets.ts';

const size = { width: 1280, height: 720 };
const frameRate = { numerator: 30, denominator: 1 };
const video = { index: 0, kind: 'Video', codec: 'h264', size, averageRate: 30, still: false } as const;
const frame = {
  displaySize: size,
  frameRate,
  interlaced: false,
  transfer: 'sdr',
  matrix: 'bt709',
  fullRange: false,
  pixelFormat: 'yuv420p',
  primaries: 'bt709',
  bitDepth: 8,
  startSeconds: 0,
  peakNits: null,
} as const;
const facts = { durationSeconds: 10, startSeconds: 0, streams: [video], frame, isRotated: false };
const timeline = { leadInSeconds: 0, frameRate, frames: 300, durationSeconds: 10, holdSeconds: 0 };
const source = { container: 'mov', facts, video, timeline } as const;
const [top] = chooseLadder(size);
if (!top) throw new Error('no rung');

/** ffmpeg's packet list of a video; every `group`th frame is a key frame. */
function listPackets({ frames = 300, group = 60, bytes = 5000, line = (text: string, _: number) => text }) {
  const lines = Array.from({ length: frames }, (_, at) =>
    line(`0, ${at * 512}, ${at * 512}, 512, ${bytes}, 0x1${at % group === 0 ? '' : ', F=0x0'}`, at),
  );
  const { read, summary } = openPacketReader(0);
  for (const each of ['#tb 0: 1/15360', ...lines]) read(each);
  return summary();
}
const useOf = (list: Parameters<typeof listPackets>[0]) => {
  const packets = listPackets(list);
  return packets && chooseCopyUse({ video, timeline, packets }, top);
};

describe('a source', () => {
  test('in H.264 with usual properties can be copied', () => {
    expect(canCopy(source)).toBe(true);
  });
  test.each([
    ['another container', { container: 'avi' }],
    ['another codec', { video: { ...video, codec: 'hevc' } }],
    ['ten bits', { facts: { ...facts, frame: { ...frame, pixelFormat: 'yuv420p10le' } } }],
    ['full range', { facts: { ...facts, frame: { ...frame, pixelFormat: 'yuvj420p' } } }],
    ['wide primaries', { facts: { ...facts, frame: { ...frame, primaries: 'smpte432' } } }],
    ['HDR', { facts: { ...facts, frame: { ...frame, transfer: 'pq' } } }],
    ['interlaced frames', { facts: { ...facts, frame: { ...frame, interlaced: true } } }],
    ['a very short duration', { timeline: { ...timeline, frames: 6, durationSeconds: 0.2 } }],
    ['a rotation', { facts: { ...facts, isRotated: true } }],
    ['other pixels than square ones', { video: { ...video, size: { width: 960, height: 720 } } }],
    [
      'a frame rate that the ladder changes',
      { timeline: { ...timeline, frameRate: { numerator: 25, denominator: 1 } } },
    ],
    ['audio that is a second longer', { timeline: { ...timeline, holdSeconds: 1 } }],
    ['an empty start', { timeline: { ...timeline, leadInSeconds: 0.5 } }],
  ] as const)('with %s must be encoded', (_, change) => {
    expect(canCopy({ ...source, ...change })).toBe(false);
  });
});

describe('the copy', () => {
  test('stays in the ladder when its key frames and bit rate fit', () => {
    expect(useOf({})).toBe('keep');
  });
  test.each([
    [1000, 'keep'],
    [20, 'keep'],
    [30_000, 'replace'],
  ])('with %i bytes per frame is not measured by a cap that its own bit rate lowered', (bytes, use) => {
    const packets = listPackets({ bytes });
    const kilobits = (bytes * 8 * 30) / 1000;
    const [lowered] = chooseLadder(size, { source: { framesPerSecond: 30, kilobits, codec: 'h264' } });
    if (!packets || !lowered) throw new Error('no packets');
    expect(chooseCopyUse({ video, timeline, packets }, lowered)).toBe(use);
  });
  test.each([
    ['a group is longer than six seconds', { group: 250 }],
    ['its bit rate is twice that of the rung', { bytes: 30_000 }],
    ['the last segment has a single frame', { frames: 121, group: 120 }],
  ])('is replaced by the encoded rung when %s', (_, list) => {
    expect(useOf(list)).toBe('replace');
  });
  test('is found for a long video with only key frames', () => {
    expect(useOf({ frames: 200_000, group: 1 })).toBeDefined();
  });
  test.each([
    ['a frame refers to one before the key frame', 61, '0, 31000, 30000, 512, 5000, 0x1, F=0x0'],
    ['packets are hidden by an edit list', 0, '0, 0, 0, 512, 5000, 0x1, F=0x5'],
    ['frames are at irregular times', 100, '0, 51000, 51000, 512, 5000, 0x1, F=0x0'],
    ['it does not start with a key frame', 0, '0, 0, 0, 512, 5000, 0x1, F=0x0'],
  ])('is not used when %s', (_, changed, line) => {
    expect(useOf({ line: (text, at) => (at === changed ? line : text) })).toBeUndefined();
  });
  test('is not used when it starts late or has no packets', () => {
    const late = listPackets({
      line: (text) => text.replace(/, (\d+), (\d+)/, (_, a, b) => `, ${+a + 9000}, ${+b + 9000}`),
    });
    expect(late && chooseCopyUse({ video, timeline, packets: late }, top)).toBeUndefined();
    expect(openPacketReader(0).summary()).toBeUndefined();
  });
});
