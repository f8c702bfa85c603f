// Tests the ffmpeg arguments for each kind of source.
import { describe, expect, test } from 'vitest';
import { type EncodePlan, encodeArguments } from './encode-plan.ts';
import { toAudioTracks } from '../source/audio-tracks.ts';
import { chooseLadder, DEFAULT_LADDER } from '../ladder/ladder.ts';
import { audioStream, FRAME } from '../../model/source.fixture.ts';
import type { FrameFacts, SourceStream } from '../../model/source.ts';

const frame: FrameFacts = { ...FRAME, displaySize: { width: 1920, height: 1080 } };
const sound = (index: number, channels = 2): SourceStream => audioStream(index, { channels });
const timeline = {
  leadInSeconds: 0,
  frameRate: { numerator: 30000, denominator: 1001 },
  frames: 300,
  durationSeconds: 10.01,
  holdSeconds: 0,
};
const plan: EncodePlan = {
  input: { path: '/films/a.mp4', container: 'mov', threads: 2 },
  frame,
  streams: [],
  videoIndex: 0,
  audio: toAudioTracks([sound(1)]),
  timeline,
  rungs: chooseLadder(frame.displaySize),
  encoder: 'x264',
  keyFrames: 'grid',
  folder: '/work',
};

const after = (args: readonly string[], option: string) => args[args.indexOf(option) + 1];
const all = (args: readonly string[], option: string) =>
  args.filter((_, index) => args[index - 1] === option);
/** Option → the argument after it. */
const optionsOf = (args: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(args.map((option, index) => [option, args[index + 1]]));
const graph = (more: Partial<EncodePlan> = {}) =>
  after(encodeArguments({ ...plan, ...more }), '-filter_complex') ?? '';
const graphOf = (more: Partial<FrameFacts>) => graph({ frame: { ...frame, ...more } });

describe('encode plan', () => {
  test('each rung is scaled from the one above, with its matrix', () => {
    const colours = 'in_color_matrix=bt709:out_color_matrix=bt709:in_range=tv:out_range=tv';
    const steps = graph().replaceAll(`:flags=bicubic:${colours},setsar=1`, '');
    expect(steps).toContain('split=2[v0][n1];[n1]scale=1280:720,split=2[v1][n2];[n2]scale=854:480,');
    expect(steps).toMatch(/\[n4\]scale=426:240\[v4\]$/);
  });
  test('a single rung needs no split', () => {
    const small = graph({ rungs: chooseLadder({ width: 320, height: 240 }) });
    expect(small).not.toContain('split');
    expect(small).toMatch(/\[v0\]$/);
  });
  test('the exact frame rate and frame count, from zero', () => {
    expect(graph()).toContain('fps=30000/1001:start_time=0,');
    expect(graph()).toContain('trim=end_frame=300');
  });
  test('low frame rates have no B-frames, whose delay of one frame would be visible', () => {
    const frameRate = { numerator: 2, denominator: 1 };
    expect(after(encodeArguments({ ...plan, timeline: { ...timeline, frameRate } }), '-bf')).toBe('0');
    expect(encodeArguments(plan)).not.toContain('-bf');
  });
  test('the last frame is repeated while audio continues, with some reserve before the cut', () => {
    expect(graph({ timeline: { ...timeline, holdSeconds: 5 } })).toContain(
      'tpad=stop_mode=clone:stop_duration=6,trim',
    );
  });
  test('square pixels in eight bits', () => expect(graph()).toContain('setsar=1,format=yuv420p'));
  test('only interlaced video is deinterlaced, before any other filter', () => {
    expect(graphOf({ interlaced: true })).toMatch(
      /^\[0:0\]sidedata=[^,]+,bwdif=mode=send_field:deint=interlaced,fps=/,
    );
    expect(graph()).not.toContain('bwdif');
  });
  test.each([
    ['smpte170m', frame.displaySize, 'bt601'],
    ['bt709', { width: 320, height: 240 }, 'bt709'],
    ['bt2020nc', frame.displaySize, 'bt2020'],
    ['unknown', { width: 640, height: 480 }, 'bt601'],
    ['unknown', frame.displaySize, 'bt709'],
    ['unknown', { width: 720, height: 1280 }, 'bt709'],
  ])('colour matrix %s at %o is read as %s', (matrix, size, expected) => {
    expect(graphOf({ matrix, displaySize: size, pixelFormat: 'yuv422p' })).toContain(
      `in_color_matrix=${expected}:out_color_matrix=bt709:out_range=tv`,
    );
  });

  test('every rung has its own option for key frames, and the encoder adds none', () => {
    const args = encodeArguments(plan);
    const expressions = plan.rungs.map((_, index) => after(args, `-force_key_frames:v:${index}`));
    expect(new Set(expressions)).toEqual(new Set(['expr:not(mod(n,60))*lt(n,300)']));
    expect([after(args, '-g'), after(args, '-sc_threshold')]).toEqual(['120', '0']);
  });
  test('caps and profile of each rung', () => {
    const args = encodeArguments(plan);
    expect([0, 1, 2, 3, 4].map((rung) => after(args, `-maxrate:v:${rung}`))).toEqual([
      '5000k',
      '2800k',
      '1200k',
      '700k',
      '350k',
    ]);
    expect([0, 3].map((rung) => after(args, `-profile:v:${rung}`))).toEqual(['high', 'main']);
    expect(after(args, '-bufsize:v:0')).toBe('10000k');
  });
  test('every rung is H.264 in eight bits and BT.709', () => {
    expect(optionsOf(encodeArguments(plan))).toMatchObject({
      '-c:v:0': 'libx264',
      '-preset:v:0': 'veryfast',
      '-crf:v:4': '23',
      '-pix_fmt': 'yuv420p',
      '-color_primaries': 'bt709',
      '-color_trc': 'bt709',
      '-colorspace': 'bt709',
      '-color_range': 'tv',
      '-b-pyramid:v:4': 'none',
    });
  });
  test('scaling has a thread for each four of the encoder; slower filters have as many', () => {
    const threadsOf = (threads: number, more: Partial<EncodePlan['frame']> = {}) => {
      const input = { ...plan.input, threads };
      const options = optionsOf(encodeArguments({ ...plan, input, frame: { ...plan.frame, ...more } }));
      return [options['-filter_complex_threads'], options['-threads:v']];
    };
    expect([2, 4, 5, 8].map((threads) => threadsOf(threads))).toEqual([
      ['1', '2'],
      ['1', '4'],
      ['2', '5'],
      ['2', '8'],
    ]);
    for (const more of [{ interlaced: true }, { transfer: 'pq' }, { primaries: 'bt2020' }] as const)
      expect(threadsOf(8, more)).toEqual(['8', '8']);
  });
  test('audio is stereo AAC', () => {
    expect(optionsOf(encodeArguments(plan))).toMatchObject({
      '-c:a:0': 'aac',
      '-b:a:0': '128k',
      '-ac:a:0': '2',
      '-ar:a:0': '48000',
    });
  });
  test('every track is stereo first, and surround tracks are encoded once more in 5.1', () => {
    const audio = toAudioTracks([sound(3, 6), sound(1), sound(2, 8)]);
    const args = encodeArguments({ ...plan, audio });
    expect(all(args, '-map').slice(-5)).toEqual(['0:3', '0:1', '0:2', '0:3', '0:2']);
    expect(optionsOf(args)).toMatchObject({
      '-ac:a:2': '2',
      '-b:a:2': '128k',
      '-ac:a:3': '6',
      '-b:a:3': '384k',
      '-ac:a:4': '6',
    });
  });
  test('the loudness of the default track is measured, once and before padding', () => {
    const args = encodeArguments({ ...plan, audio: toAudioTracks([sound(3, 6), sound(1)]) });
    const filters = [0, 1, 2].map((index) => after(args, `-filter:a:${index}`) ?? '');
    expect(filters.map((filter) => filter.includes('ebur128'))).toEqual([true, false, false]);
    expect(filters[0]).toMatch(
      /^aresample=48000:async=1:first_pts=0,aformat=channel_layouts=stereo,ebur128=.*,apad=/,
    );
  });
  test('segments of four seconds are numbered per rendition, and none is removed', () => {
    expect(optionsOf(encodeArguments(plan))).toMatchObject({
      '-f': 'dash',
      '-seg_duration': '4',
      '-dash_segment_type': 'mp4',
      '-use_template': '1',
      '-use_timeline': '1',
      '-window_size': '0',
      '-remove_at_exit': '0',
      '-init_seg_name': 'r$RepresentationID$-init.mp4',
      '-media_seg_name': 'r$RepresentationID$-$Number%05d$.m4s',
    });
    expect(encodeArguments(plan).at(-1)).toBe('/work/engine.mpd');
  });
  test('progress comes on stdout twice a second, errors on stderr', () => {
    expect(optionsOf(encodeArguments(plan))).toMatchObject({
      '-progress': 'pipe:1',
      '-stats_period': '0.5',
      '-loglevel': 'repeat+warning',
      '-max_muxing_queue_size': '1024',
    });
    expect(encodeArguments(plan).slice(0, 4)).toEqual(['-nostdin', '-hide_banner', '-y', '-nostats']);
  });
  test('rungs are mapped in order, audio last', () => {
    expect(all(encodeArguments(plan), '-map')).toEqual(['[v0]', '[v1]', '[v2]', '[v3]', '[v4]', '0:1']);
    expect(all(encodeArguments({ ...plan, audio: [] }), '-map')).toHaveLength(5);
  });
  test('audio has the duration of the video', () => {
    const args = encodeArguments({ ...plan, audio: toAudioTracks([sound(1), sound(2)]) });
    expect(after(args, '-filter:a:1')).toBe(
      'aresample=48000:async=1:first_pts=0,apad=whole_dur=10.01,atrim=start_sample=1024:end=10.01',
    );
    expect(after(args, '-filter:a:0')).toMatch(/,apad=whole_dur=10.01,atrim=start_sample=1024:end=10.01$/);
  });
  test('some audio remains for a video with a single frame', () => {
    const short = encodeArguments({ ...plan, timeline: { ...timeline, durationSeconds: 1 / 60 } });
    expect(after(short, '-filter:a:0')).toContain('apad=whole_dur=0.043');
  });
  test('an empty beginning is kept', () => {
    expect(
      after(encodeArguments({ ...plan, timeline: { ...timeline, leadInSeconds: 0.25 } }), '-itsoffset'),
    ).toBe('0.25');
  });
  test("nothing of the source's tags is carried over", () => {
    expect(after(encodeArguments(plan), '-map_metadata')).toBe('-1');
    expect(after(encodeArguments(plan), '-map_chapters')).toBe('-1');
    expect(encodeArguments(plan)).toEqual(expect.arrayContaining(['-bitexact', '-sn', '-dn']));
  });
});

describe('further codecs', () => {
  const rungs = chooseLadder(
    { width: 640, height: 360 },
    { ladder: { ...DEFAULT_LADDER, extraCodecs: ['av1', 'hevc'] } },
  );
  const [main, av1, hevc] = (['h264', 'av1', 'hevc'] as const).map((codec) =>
    optionsOf(encodeArguments({ ...plan, rungs: rungs.filter((rung) => rung.codec === codec) })),
  );

  test('have the key frames of H.264', () => {
    const option = '-force_key_frames:v:1';
    expect([av1?.[option], hevc?.[option]]).toEqual([main?.[option], main?.[option]]);
  });
  test('have only options that their encoders know', () => {
    expect(av1).toMatchObject({
      '-c:v:1': 'libsvtav1',
      '-preset:v:1': '10',
      '-svtav1-params:v:1': 'lp=1:enable-force-key-frames=1',
    });
    expect(hevc).toMatchObject({ '-c:v:1': 'libx265', '-tag:v:1': 'hvc1', '-forced-idr:v:1': '1' });
    for (const options of [av1, hevc])
      expect(Object.keys(options ?? {}).filter((name) => /^-(?:profile|b-pyramid)/.test(name))).toEqual([]);
  });
});
