// Tests that the checks of manifests find violations, and none in the manifests of the service.
import { describe, expect, test } from 'vitest';
import { checkDash } from './support/playback/check-dash.ts';
import { checkHls } from './support/playback/check-hls.ts';
import { dash, edited, hls } from './support/playback/sample-manifests.ts';

/** A variant with pictures, and all up to the sound alone. */
const UP_TO_SOUND = /(#EXT-X-STREAM-INF.*\n1-1\/r1\.m3u8\n)((?:.*\n)*?#EXT-X-STREAM-INF.*\n1-1\/r2\.m3u8\n)/;

describe('HLS', () => {
  test('the playlists of the service have no violations', () => expect(checkHls(hls)).toEqual([]));

  test.each([
    ['#EXTM3U\n', '', 'does not start with #EXTM3U'],
    ['#EXT-X-VERSION:7\n', '', '0 EXT-X-VERSION tags'],
    ['#EXT-X-INDEPENDENT-SEGMENTS\n', '', 'no EXT-X-INDEPENDENT-SEGMENTS'],
    [/BANDWIDTH=\d+/, 'BANDWIDTH=1000', 'AVERAGE-BANDWIDTH is above BANDWIDTH'],
    [/BANDWIDTH=\d+/, 'BANDWIDTH=1000', 'is below its peak'],
    [/AVERAGE-BANDWIDTH=\d+/, 'AVERAGE-BANDWIDTH=1000', 'is not that of its segments'],
    [/CODECS="[^"]+",/, '', 'CODECS is missing'],
    [/FRAME-RATE=30.000/, 'FRAME-RATE=30', 'FRAME-RATE is 30'],
    ['RESOLUTION=1440x720', 'RESOLUTION=1440', 'RESOLUTION is 1440'],
    [',CLOSED-CAPTIONS=NONE\n', '\n', 'only some have CLOSED-CAPTIONS'],
    ['VIDEO-RANGE=SDR,', '', 'only some have VIDEO-RANGE'],
    ['VIDEO-RANGE=SDR', 'VIDEO-RANGE=HDR', 'VIDEO-RANGE is HDR'],
    ['VIDEO-RANGE=SDR', 'VIDEO-RANGE=PQ', 'HDR in avc1.64001f,mp4a.40.2, which has no ten bits'],
    ['VIDEO-RANGE=SDR', 'VIDEO-RANGE=PQ', 'SDR is not first'],
    ['VIDEO-RANGE=PQ', 'VIDEO-RANGE=HLG', 'is of another range'],
    ['VIDEO-RANGE=PQ', 'VIDEO-RANGE=HLG', 'PQ and HLG of one video'],
    [/VIDEO-RANGE=SDR/g, 'VIDEO-RANGE=PQ', 'none in SDR'],
    [/(?<=1440x720,FRAME-RATE=30.000,)VIDEO-RANGE=SDR/g, 'VIDEO-RANGE=PQ', '1440x720 only in HDR'],
    [/#EXT-X-I-FRAME-STREAM-INF.*VIDEO-RANGE=PQ.*\n/, '', 'I-frames: not of all variants'],
    [
      /(?<=I-FRAME-STREAM-INF.*VIDEO-RANGE=)SDR/,
      'PQ',
      'I-frames: a range, size or codec that no variant has',
    ],
    ['AUDIO="audio"', 'AUDIO="other"', 'an AUDIO group does not exist'],
    ['AUTOSELECT=YES,', '', 'DEFAULT without AUTOSELECT'],
    ['1-1/r0.m3u8', '1-1/r9.m3u8', '1-1/r9.m3u8 does not exist'],
    [/CODECS="avc1/, 'CODECS="av01', 'H.264 is not the first codec'],
    [UP_TO_SOUND, '$2$1', 'sound alone is not the last'],
    [/BANDWIDTH=\d+(?=,[^\n]*CODECS="mp4a)/, 'BANDWIDTH=99000000', 'needs more bandwidth than pictures'],
    [/AVERAGE-BANDWIDTH=\d+(?=,CODECS="mp4a)/, 'AVERAGE-BANDWIDTH=9', 'is not that of its segments'],
  ])('in the multivariant playlist: %s → %j', (from, to, violation) => {
    const multivariant = edited(hls.multivariant, from, to);
    expect(checkHls({ ...hls, multivariant }).join('\n')).toContain(violation);
  });
  test.each([
    ['#EXT-X-TARGETDURATION:4', '#EXT-X-TARGETDURATION:3', 'is longer than the target duration'],
    ['#EXT-X-TARGETDURATION:4', '#EXT-X-TARGETDURATION:5', 'target durations are 4, 5'],
    ['#EXT-X-ENDLIST\n', '', 'no EXT-X-ENDLIST'],
    ['#EXT-X-PLAYLIST-TYPE:VOD\n', '', 'not VOD'],
    [/#EXT-X-MAP:.*\n/, '', 'no EXT-X-MAP'],
    ['r1-00002.m4s', 'r1-00009.m4s', 'r1-00009.m4s does not exist'],
    ['#EXTINF:2.0', '#EXTINF:1.5', 'variants: segments are not aligned'],
  ])('in a media playlist: %s → %j', (from, to, violation) => {
    const name = '1-1/r1.m3u8';
    const playlists = new Map(hls.playlists).set(name, edited(hls.playlists.get(name) ?? '', from, to));
    expect(checkHls({ ...hls, playlists }).join('\n')).toContain(violation);
  });
});

describe('DASH', () => {
  test('the manifest of the service has no violations', () => expect(checkDash(dash)).toEqual([]));

  test.each([
    [' type="static"', '', 'MPD: not static'],
    [/ minBufferTime="[^"]+"/, '', 'no minBufferTime'],
    [
      /mediaPresentationDuration="[^"]+"/,
      'mediaPresentationDuration="PT11S"',
      'ends before the presentation',
    ],
    ['<AdaptationSet id="1"', '<AdaptationSet id="0"', 'AdaptationSet 0 occurs twice'],
    ['Representation id="1"', 'Representation id="0"', 'Representation 0 occurs twice'],
    [/codecs="avc1[^"]*"/, 'codecs="av01.0.05M.08"', '2 codecs, between which players cannot switch'],
    [/codecs="avc1[^"]*"/, 'codecs="avc1"', 'codecs "avc1"'],
    [/<EssentialProperty[^>]*Transfer[^>]*>/, '', 'AdaptationSet 3: HDR without its colours'],
    ['TransferCharacteristics" value="16"', 'TransferCharacteristics" value="14"', 'HDR without its colours'],
    [
      'TransferCharacteristics" value="16"',
      'TransferCharacteristics" value="18"',
      'other colours than its codecs',
    ],
    [/ selectionPriority="0"/, '', 'AdaptationSet 3: HDR is not the last choice'],
    [/<EssentialProperty/g, '<SupplementalProperty', 'HDR without its colours'],
    [/codecs="hvc1[^"]*"/, 'codecs="hvc1.1.6.L93.B0"', 'AdaptationSet 4: HDR in eight bits'],
    [/bandwidth="\d+"/, 'bandwidth="1000"', 'stalls at its bandwidth'],
    [/ frameRate="30\/1"/, '', 'no size or frame rate'],
    ['<S t="0"', '<S t="40"', 'does not start at 0'],
    ['<S t="8000"', '<S t="8040"', 'has gaps'],
    ['<S t="8000" d="2000"', '<S t="8000" d="4000" r="1"', 'segments are not aligned'],
    [' mimeType="video/mp4"', '', 'no mimeType'],
    ['media="r$', 'media="s$', 's0-00001.m4s does not exist'],
  ])('%s → %j', (from, to, violation) =>
    expect(checkDash({ ...dash, manifest: edited(dash.manifest, from, to) }).join('\n')).toContain(violation),
  );
});
