// Tests the colour conversion for each kind of source. Values of pixels are tested with real videos.
import { describe, expect, test } from 'vitest';
import { chooseLadder, DEFAULT_LADDER } from '../ladder/ladder.ts';
import { FRAME } from '../../model/source.fixture.ts';
import type { FrameFacts } from '../../model/source.ts';
import { buildVideoGraph } from './video-graph.ts';

const timeline = {
  leadInSeconds: 0,
  frameRate: { numerator: 25, denominator: 1 },
  frames: 25,
  durationSeconds: 1,
  holdSeconds: 0,
};
const graphOf = (more: Partial<FrameFacts>): string =>
  buildVideoGraph({
    frame: { ...FRAME, ...more },
    videoIndex: 0,
    timeline,
    rungs: chooseLadder(FRAME.displaySize).slice(0, 1),
  });

describe('standard dynamic range', () => {
  test.each(['bt709', 'smpte170m', 'bt470bg', 'unknown'])('primaries %s cost no conversion', (primaries) => {
    expect(graphOf({ primaries })).not.toContain('zscale');
  });
  test.each(['smpte431', 'smpte432', 'bt2020'])(
    'primaries %s are converted after the matrix',
    (primaries) => {
      expect(graphOf({ primaries, matrix: 'bt2020nc' })).toContain(
        ':in_color_matrix=bt2020:out_color_matrix=bt709:out_range=tv,format=yuv420p10le,' +
          `zscale=tin=709:min=709:pin=${primaries}:rin=limited:t=709:m=709:p=709:r=limited,`,
      );
    },
  );
  test.each([
    ['smpte432', 'bt709'],
    ['bt2020', 'bt2020'],
    ['unknown', 'bt601'],
  ])('primaries %s without a matrix are read with %s', (primaries, matrix) => {
    const graph = graphOf({ primaries, matrix: 'unknown', pixelFormat: 'yuv422p' });
    expect(graph).toContain(`:in_color_matrix=${matrix}:`);
  });
  test('the usual pixels are converted from BT.601 by a faster filter, at the size of the rung', () => {
    expect(graphOf({ matrix: 'smpte170m' })).toMatch(
      /,scale=640:360:flags=bicubic,colorspace=ispace=smpte170m:.*:space=bt709:.*,setsar=1,/,
    );
  });
  test.each([
    [{ width: 1920, height: 1080 }, 'area'],
    [{ width: 1080, height: 1920 }, 'area'],
    [{ width: 854, height: 480 }, 'bicubic'],
  ])('a source of %o is scaled to 426×240 by %s', (displaySize, flags) => {
    const rungs = chooseLadder({ width: 426, height: 240 });
    const frame = { ...FRAME, displaySize };
    expect(buildVideoGraph({ frame, videoIndex: 0, timeline, rungs })).toContain(
      `scale=426:240:flags=${flags}`,
    );
  });
  test.each([
    { fullRange: true },
    { pixelFormat: 'yuv422p' },
    { pixelFormat: 'yuv420p10le' },
    { primaries: 'smpte432' },
    { matrix: 'fcc' },
  ])('%o is converted while it is scaled', (more) => {
    const graph = graphOf({ matrix: 'smpte170m', ...more });
    expect(graph).toMatch(/flags=bicubic:in_color_matrix=(?:bt601|fcc):out_color_matrix=bt709/);
    expect(graph).not.toContain('colorspace=');
  });
});

test('renditions in HDR are scaled in ten bits, without tone mapping and without metadata of frames', () => {
  const rungs = chooseLadder(FRAME.displaySize, {
    ladder: { ...DEFAULT_LADDER, hdrCodecs: ['hevc'] },
    source: { hdrRange: 'pq' },
  }).filter(({ range }) => range === 'pq');
  const frame: FrameFacts = {
    ...FRAME,
    transfer: 'pq',
    primaries: 'bt2020',
    matrix: 'unknown',
    fullRange: true,
  };
  expect(buildVideoGraph({ frame, videoIndex: 0, timeline, rungs })).toBe(
    '[0:0]sidedata=mode=delete:type=A53_CC,fps=25/1:start_time=0,' +
      'scale=640:360:flags=bicubic:in_color_matrix=bt2020:out_color_matrix=bt2020:out_range=tv,' +
      'sidedata=mode=delete,setsar=1,format=yuv420p10le,tpad=stop_mode=clone:stop_duration=1,' +
      'trim=end_frame=25,split=2[v0][n1];[n1]scale=426:240:flags=bicubic:in_color_matrix=bt2020:' +
      'out_color_matrix=bt2020:in_range=tv:out_range=tv,setsar=1[v1]',
  );
});

test('the frames of each rung are copied to the GPU after they are scaled', () => {
  const rungs = chooseLadder(FRAME.displaySize).slice(0, 2);
  const graph = buildVideoGraph({ frame: FRAME, videoIndex: 0, timeline, rungs, upload: 'hwupload' });
  expect(graph).toMatch(
    /,split=2\[soft0\]\[n1\];\[n1\]scale=.*\[soft1\];\[soft0\]hwupload\[v0\];\[soft1\]hwupload\[v1\]$/,
  );
});

describe('high dynamic range', () => {
  test.each([
    ['pq', 'smpte2084'],
    ['hlg', 'arib-std-b67'],
  ] as const)('%s is mapped to tones that every screen shows', (transfer, name) => {
    expect(graphOf({ transfer, matrix: 'bt2020nc', primaries: 'bt2020' })).toContain(
      ':in_color_matrix=bt2020:out_color_matrix=bt2020:out_range=tv,format=yuv420p10le,' +
        `zscale=tin=${name}:min=2020_ncl:pin=bt2020:rin=limited:t=linear:p=709:npl=203,`,
    );
  });
  test('matrix and primaries are those of the source, else BT.2020', () => {
    const stated = graphOf({ transfer: 'pq', matrix: 'bt709', primaries: 'smpte432' });
    expect(stated).toMatch(/:in_color_matrix=bt709:out_color_matrix=bt2020:.*:pin=smpte432:/);
    const unknown = graphOf({ transfer: 'pq', matrix: 'unknown', primaries: 'unknown' });
    expect(unknown).toMatch(/:in_color_matrix=bt2020:out_color_matrix=bt2020:.*:pin=bt2020:/);
  });
  test.each([
    ['pq', 4060, '20.000'],
    ['pq', null, '4.926'],
    ['pq', 100, '1.000'],
    ['hlg', 4060, '4.926'],
  ] as const)('the peak of %s with %j nits is %s of the reference white', (transfer, peakNits, peak) => {
    expect(graphOf({ transfer, peakNits })).toContain(`tonemap=mobius:param=0.7:peak=${peak}:`);
  });
});
