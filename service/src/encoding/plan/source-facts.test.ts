// Tests the parser with recorded logs of both ffmpeg versions in use.
import { describe, expect, test } from 'vitest';
import { parseSourceFacts } from './source-facts.ts';

const ROTATED_5_1 = `Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:rotated.mov':
  Metadata:
    major_brand     : qt  
    encoder         : Lavf61.1.100
  Duration: 00:00:02.00, start: 0.000000, bitrate: 812 kb/s
  Stream #0:0[0x1]: Video: h264 (Constrained Baseline) (avc1 / 0x31637661), yuv420p(progressive), 320x180 [SAR 1:1 DAR 16:9], 729 kb/s, 30 fps, 30 tbr, 15360 tbn (default)
    Metadata:
      handler_name    : VideoHandler
    Side data:
      displaymatrix: rotation of -90.00 degrees
  Stream #0:1[0x2]: Audio: aac (LC) (mp4a / 0x6134706D), 48000 Hz, mono, fltp, 69 kb/s (default)
    Metadata:
      handler_name    : SoundHandler
Stream mapping:
  Stream #0:0 -> #0:0 (h264 (native) -> wrapped_avframe (native))
[Parsed_showinfo_0 @ 0x562d8b671000] config in time_base: 1/15360, frame_rate: 30/1
[Parsed_showinfo_0 @ 0x562d8b671000] config out time_base: 0/0, frame_rate: 0/0
[Parsed_showinfo_0 @ 0x562d8b671000] n:   0 pts:      0 pts_time:0       pos:      286 fmt:yuv420p sar:1/1 s:180x320 i:P iskey:1 type:I 
[Parsed_showinfo_0 @ 0x562d8b671000] color_range:unknown color_space:unknown color_primaries:unknown color_trc:unknown
Output #0, null, to 'pipe:':
  Stream #0:0: Video: wrapped_avframe, yuv420p(progressive), 180x320 [SAR 1:1 DAR 9:16], q=2-31, 200 kb/s, 30 fps, 30 tbn (default)
[Parsed_showinfo_0 @ 0x562d8b671000] n:   1 pts:    512 pts_time:0.0333333 pos:     8199 fmt:yuv420p sar:1/1 s:180x320 i:P iskey:0 type:P 
`;

const ROTATED_7_0 = `Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:rotated.mov':
  Metadata:
    major_brand     : qt  
  Duration: 00:00:02.00, start: 0.000000, bitrate: 812 kb/s
  Stream #0:0[0x1]: Video: h264 (Constrained Baseline) (avc1 / 0x31637661), yuv420p(progressive), 320x180 [SAR 1:1 DAR 16:9], 729 kb/s, 30 fps, 30 tbr, 15360 tbn (default)
      Metadata:
        handler_name    : VideoHandler
      Side data:
        displaymatrix: rotation of -90.00 degrees
  Stream #0:1[0x2]: Audio: aac (LC) (mp4a / 0x6134706D), 48000 Hz, mono, fltp, 69 kb/s (default)
Stream mapping:
  Stream #0:0 -> #0:0 (h264 (native) -> wrapped_avframe (native))
[Parsed_showinfo_0 @ 0x7f3ac4001cc0] config in time_base: 1/15360, frame_rate: 30/1
[Parsed_showinfo_0 @ 0x7f3ac4001cc0] config out time_base: 0/0, frame_rate: 0/0
[Parsed_showinfo_0 @ 0x7f3ac4001cc0] n:   0 pts:      0 pts_time:0       duration:    512 duration_time:0.0333333 fmt:yuv420p cl:left sar:1/1 s:180x320 i:P iskey:1 type:I 
[Parsed_showinfo_0 @ 0x7f3ac4001cc0]   side data - 3x3 displaymatrix: rotation of -90.00 degrees
[Parsed_showinfo_0 @ 0x7f3ac4001cc0] color_range:unknown color_space:unknown color_primaries:unknown color_trc:unknown
Output #0, null, to 'pipe:':
  Stream #0:0: Video: wrapped_avframe, yuv420p(progressive), 180x320 [SAR 1:1 DAR 9:16], q=2-31, 200 kb/s, 30 fps, 30 tbn (default)
`;

const INTERLACED_7_0 = `Input #0, mpegts, from 'file:interlaced.ts':
  Duration: 00:00:02.00, start: 1.440000, bitrate: 3696 kb/s
  Program 1 
    Metadata:
      service_name    : Service01
  Stream #0:0[0x100]: Video: mpeg2video (Main) ([2][0][0][0] / 0x0002), yuv420p(tv, top first), 720x576 [SAR 64:45 DAR 16:9], 25 fps, 25 tbr, 90k tbn
Stream mapping:
[Parsed_showinfo_0 @ 0x7f38e8001cc0] config in time_base: 1/90000, frame_rate: 25/1
[Parsed_showinfo_0 @ 0x7f38e8001cc0] n:   0 pts:      0 pts_time:0       duration:   3600 duration_time:0.04    fmt:yuv420p cl:left sar:64/45 s:720x576 i:T iskey:1 type:I 
[Parsed_showinfo_0 @ 0x7f38e8001cc0]   side data - AVPanScan: (24 bytes)
[Parsed_showinfo_0 @ 0x7f38e8001cc0] color_range:tv color_space:unknown color_primaries:unknown color_trc:unknown
`;

const PQ_5_1 = `Input #0, matroska,webm, from 'file:pq.mkv':
  Metadata:
    STREAM_#0:9     : : Audio: evil, 8x8
    ENCODER         : Lavf61.1.100
  Duration: 00:00:01.01, start: -0.007000, bitrate: 120 kb/s
  Stream #0:0: Video: hevc (Main 10), yuv420p10le(tv, bt2020nc/bt2020/smpte2084, progressive), 640x360 [SAR 1:1 DAR 16:9], 24 fps, 24 tbr, 1k tbn
  Stream #0:1(deu): Audio: opus, 48000 Hz, mono, fltp
Stream mapping:
[Parsed_showinfo_0 @ 0x560797ae8600] config in time_base: 1/1000, frame_rate: 24000/1001
[Parsed_showinfo_0 @ 0x560797ae8600] n:   0 pts:      7 pts_time:0.007   pos:     3214 fmt:yuv420p10le sar:1/1 s:640x360 i:P iskey:1 type:I 
[Parsed_showinfo_0 @ 0x560797ae8600]   side data - User Data Unregistered:
[Parsed_showinfo_0 @ 0x560797ae8600] color_range:tv color_space:bt2020nc color_primaries:bt2020 color_trc:smpte2084
`;

const COVER_7_0 = `[mov,mp4,m4a,3gp,3g2,mj2 @ 0x5635d4097d00] stream 0, timescale not set
Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:cover.mp4':
  Duration: 00:00:00.02, start: 0.000000, bitrate: 3761 kb/s
  Stream #0:0[0x2](und): Audio: mp3 (mp3float) (mp4a / 0x6134706D), 44100 Hz, mono, fltp, 87 kb/s (default)
  Stream #0:1[0x0]: Video: mjpeg (Baseline), yuvj420p(pc, bt470bg/unknown/unknown), 320x240 [SAR 1:1 DAR 4:3], 90k tbr, 90k tbn (attached pic)
Stream map '0:V:0' matches no streams.
Error opening output files: Invalid argument
`;

const ENCRYPTED_5_1 = `Input #0, mov,mp4,m4a,3gp,3g2,mj2, from 'file:locked.mp4':
  Duration: N/A, bitrate: N/A
  Stream #0:0[0x1](und): Video: h264 (avc1 / 0x31637661), none, 1280x720, SAR 1:1 DAR 16:9, 90k tbr, 90k tbn (default)
Error marking filters as finished
`;

describe('source facts', () => {
  test.each([
    ['5.1', ROTATED_5_1],
    ['7.0', ROTATED_7_0],
  ])('a rotated film, as ffmpeg %s tells it', (_, words) => {
    expect(parseSourceFacts(words, 'mov')).toEqual({
      durationSeconds: 2,
      startSeconds: 0,
      streams: [
        {
          index: 0,
          kind: 'Video',
          codec: 'h264',
          tag: 'avc1',
          size: { width: 320, height: 180 },
          averageRate: 30,
          still: false,
        },
        { index: 1, kind: 'Audio', codec: 'aac', tag: 'mp4a', size: null, averageRate: null, still: false },
      ],
      frame: {
        displaySize: { width: 180, height: 320 },
        frameRate: { numerator: 30, denominator: 1 },
        interlaced: false,
        transfer: 'sdr',
        matrix: 'unknown',
        fullRange: false,
      },
    });
  });

  test('a codec without a name still has the tag of its container', () => {
    const words = ROTATED_7_0.replace(
      /Audio: aac \(LC\) \(mp4a \/ 0x6134706D\)/,
      'Audio: none (apac / 0x63617061)',
    );
    expect(parseSourceFacts(words, 'mov')?.streams[1]).toMatchObject({ codec: 'none', tag: 'apac' });
  });
  test('interlaced fields and oblong pixels', () => {
    const facts = parseSourceFacts(INTERLACED_7_0, 'mpegts');
    expect(facts?.frame).toMatchObject({ interlaced: true, displaySize: { width: 1024, height: 576 } });
  });
  test('pixels that are taller than wide stretch the height', () => {
    const facts = parseSourceFacts(ROTATED_7_0.replaceAll('sar:1/1', 'sar:9/16'), 'mov');
    expect(facts?.frame?.displaySize).toEqual({ width: 180, height: 569 });
  });
  test('an undefined pixel aspect is square', () => {
    expect(parseSourceFacts(ROTATED_7_0.replaceAll('sar:1/1', 'sar:0/1'), 'mov')?.frame?.displaySize).toEqual(
      {
        width: 180,
        height: 320,
      },
    );
  });
  test('the clock of a transport stream is ignored', () => {
    expect(parseSourceFacts(INTERLACED_7_0, 'mpegts')).toMatchObject({
      durationSeconds: null,
      startSeconds: 0,
    });
  });

  test('high dynamic range, exact frame rate, negative start', () => {
    const facts = parseSourceFacts(PQ_5_1, 'matroska');
    expect(facts).toMatchObject({ durationSeconds: 1.01, startSeconds: -0.007 });
    expect(facts?.frame).toMatchObject({
      transfer: 'pq',
      matrix: 'bt2020nc',
      frameRate: { numerator: 24000, denominator: 1001 },
    });
    expect(
      parseSourceFacts(PQ_5_1.replace('color_trc:smpte2084', 'color_trc:arib-std-b67'), 'matroska')?.frame
        ?.transfer,
    ).toBe('hlg');
  });
  test('tags in a file cannot pose as streams', () =>
    expect(parseSourceFacts(PQ_5_1, 'matroska')?.streams).toHaveLength(2));
  test('a language with a region is no obstacle', () => {
    expect(parseSourceFacts(PQ_5_1.replace('(deu)', '(pt-BR)'), 'matroska')?.streams[1]).toMatchObject({
      kind: 'Audio',
      codec: 'opus',
    });
  });

  test("a cover is a still, and the decoder's name is not the codec's", () => {
    expect(parseSourceFacts(COVER_7_0, 'mov')).toMatchObject({
      streams: [
        { codec: 'mp3', still: false },
        { codec: 'mjpeg', still: true, averageRate: null },
      ],
      frame: null,
    });
  });
  test('no frame and no duration are null', () => {
    expect(parseSourceFacts(ENCRYPTED_5_1, 'mov')).toMatchObject({
      durationSeconds: null,
      startSeconds: 0,
      frame: null,
    });
  });
  test('a file that could not be opened has no facts', () => {
    expect(
      parseSourceFacts('[in#0 @ 0x55ade7042d40] Error opening input: Invalid argument\n', 'mov'),
    ).toBeUndefined();
  });
});
