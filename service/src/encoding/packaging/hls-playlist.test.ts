// Tests the exact lines of HLS playlists.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from '../model/cmaf-track.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from './hls-playlist.ts';
import { soundTracks } from './tracks.fixture.ts';

const track = (id: number, [width, height]: readonly [number, number], bytes: number): CmafTrack => ({
  id,
  timescale: 15360,
  codec: 'avc1.64001f',
  size: { width, height },
  segments: [61440, 61440, 30720].map((duration, index) => ({
    name: segmentName(id, index + 1),
    start: index * 61440,
    duration,
    bytes: bytes * (duration / 61440),
  })),
});
const audio = soundTracks(2, [{}]);
const frameRate = { numerator: 30000, denominator: 1001 };

const lines = (playlist: string) => playlist.split('\n');
const multivariant = (tracks: readonly CmafTrack[], hasAudioVariant = false) =>
  lines(formatMultivariantPlaylist({ tracks, frameRate, childFolder: '3-1', captions: [], hasAudioVariant }));

describe('multivariant playlist', () => {
  test('every variant with its audio group', () => {
    expect(multivariant([track(0, [1280, 720], 1_000_000), track(1, [640, 360], 250_000), ...audio])).toEqual(
      [
        '#EXTM3U',
        '#EXT-X-VERSION:7',
        '#EXT-X-INDEPENDENT-SEGMENTS',
        '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",' +
          'URI="3-1/r2.m3u8"',
        '#EXT-X-STREAM-INF:BANDWIDTH=2128000,AVERAGE-BANDWIDTH=2128000,CODECS="avc1.64001f,mp4a.40.2",' +
          'RESOLUTION=1280x720,FRAME-RATE=29.970,VIDEO-RANGE=SDR,AUDIO="audio",CLOSED-CAPTIONS=NONE',
        '3-1/r0.m3u8',
        '#EXT-X-STREAM-INF:BANDWIDTH=628000,AVERAGE-BANDWIDTH=628000,CODECS="avc1.64001f,mp4a.40.2",' +
          'RESOLUTION=640x360,FRAME-RATE=29.970,VIDEO-RANGE=SDR,AUDIO="audio",CLOSED-CAPTIONS=NONE',
        '3-1/r1.m3u8',
        '',
      ],
    );
  });
  test('the sound alone is the last variant, with the playlist of the default track', () => {
    const sounds = soundTracks(2, [{ language: 'eng', channels: 6 }, { language: 'ger' }]);
    const text = multivariant([track(0, [1280, 720], 1_000_000), ...sounds], true);
    expect(text.slice(-3)).toEqual([
      '#EXT-X-STREAM-INF:BANDWIDTH=128000,AVERAGE-BANDWIDTH=128000,CODECS="mp4a.40.2",AUDIO="audio",' +
        'CLOSED-CAPTIONS=NONE',
      '3-1/r2.m3u8',
      '',
    ]);
    expect(text.slice(0, -3)).toEqual(
      multivariant([track(0, [1280, 720], 1_000_000), ...sounds]).slice(0, -1),
    );
  });
  test('a video without audio has no variant of sound', () => {
    const silent = [track(0, [640, 360], 250_000)];
    expect(multivariant(silent, true)).toEqual(multivariant(silent));
  });
  test('a video without audio has no group', () => {
    expect(multivariant([track(0, [640, 360], 250_000)]).join('\n')).not.toMatch(/AUDIO/);
  });
  test('variants of another codec follow all in H.264, with the same audio', () => {
    const av1 = (id: number, size: readonly [number, number]) => ({
      ...track(id, size, 1000),
      codec: 'av01.0.05M.08',
    });
    const text = multivariant([
      track(0, [1920, 1080], 1000),
      track(1, [1280, 720], 1000),
      ...audio,
      av1(100, [1920, 1080]),
      av1(101, [1280, 720]),
    ]);
    expect(text.filter((line) => line.endsWith('.m3u8'))).toEqual([
      '3-1/r1.m3u8',
      '3-1/r0.m3u8',
      '3-1/r101.m3u8',
      '3-1/r100.m3u8',
    ]);
    expect(text.filter((line) => line.includes('CODECS="av01.0.05M.08,mp4a.40.2"'))).toHaveLength(2);
  });
  test.each([
    [16, 'PQ'],
    [18, 'HLG'],
  ])('variants with the transfer %i come last, in the range %s', (transfer, range) => {
    const hevc = (id: number) => ({ ...track(id, [640, 360], 1000), codec: 'hvc1.2.4.L93.B0' });
    const colour = { primaries: 9, transfer, matrix: 9, isFullRange: false };
    const hdr = { ...hevc(400), colour };
    const text = multivariant([track(0, [640, 360], 1000), hdr, hevc(200)]).join('\n');
    expect([...text.matchAll(/VIDEO-RANGE=(\w+).*\n(.+)/g)].map(([, ...fields]) => fields)).toEqual([
      ['SDR', '3-1/r0.m3u8'],
      ['SDR', '3-1/r200.m3u8'],
      [range, '3-1/r400.m3u8'],
    ]);
  });
  test('players start in the middle of the ladder, for landscape and portrait', () => {
    const order = (sizes: [number, number][]) =>
      multivariant(sizes.map((size, id) => track(id, size, 1000))).filter((line) => line.endsWith('.m3u8'));
    expect(
      order([
        [1920, 1080],
        [1280, 720],
        [640, 360],
      ]),
    ).toEqual(['3-1/r1.m3u8', '3-1/r0.m3u8', '3-1/r2.m3u8']);
    expect(
      order([
        [1080, 1920],
        [720, 1280],
        [360, 640],
      ]),
    ).toEqual(['3-1/r1.m3u8', '3-1/r0.m3u8', '3-1/r2.m3u8']);
    expect(order([[1440, 1080]])).toEqual(['3-1/r0.m3u8']);
  });
});

describe('media playlist', () => {
  test('all segments with their exact lengths, once and for all', () => {
    expect(lines(formatMediaPlaylist(track(1, [640, 360], 1000)))).toEqual([
      '#EXTM3U',
      '#EXT-X-VERSION:7',
      '#EXT-X-INDEPENDENT-SEGMENTS',
      '#EXT-X-PLAYLIST-TYPE:VOD',
      '#EXT-X-TARGETDURATION:4',
      '#EXT-X-MAP:URI="r1-init.mp4"',
      '#EXTINF:4.000000,',
      'r1-00001.m4s',
      '#EXTINF:4.000000,',
      'r1-00002.m4s',
      '#EXTINF:2.000000,',
      'r1-00003.m4s',
      '#EXT-X-ENDLIST',
      '',
    ]);
  });
  test('the target is the longest, rounded, and never zero', () => {
    const one = track(0, [640, 360], 1000);
    const target = (duration: number) =>
      formatMediaPlaylist({ ...one, segments: one.segments.map((each) => ({ ...each, duration })) });
    expect(target(Math.round(4.6 * 15360))).toContain('#EXT-X-TARGETDURATION:5\n');
    expect(target(600)).toContain('#EXT-X-TARGETDURATION:1\n');
  });
});
