// Tests that the DASH manifest refers to the same files as HLS.
import { describe, expect, test } from 'vitest';
import { type CmafTrack, segmentName } from '../model/cmaf-track.ts';
import type { AudioRendition } from '../model/audio-track.ts';
import { formatDashManifest } from './dash-manifest.ts';
import { soundTracks } from './tracks.fixture.ts';

const track = (id: number, size: CmafTrack['size'], durations: readonly number[]): CmafTrack => {
  let end = 0;
  const segments = durations.map((duration, index) => {
    const start = end;
    end += duration;
    return { name: segmentName(id, index + 1), start, duration, bytes: duration };
  });
  const codec = size ? 'avc1.64001f' : 'mp4a.40.2';
  return { id, timescale: size ? 15360 : 48000, codec, size, segments, ...(!size && { audio: stereo }) };
};
const stereo = soundTracks(1, [{}])[0]?.audio as AudioRendition;
const frameRate = { numerator: 30000, denominator: 1001 };
const video = track(0, { width: 1280, height: 720 }, [61440, 61440, 61440, 30720]);
const audio = track(1, null, [189440, 192512, 192512, 99328]);
const manifest = (...tracks: CmafTrack[]) =>
  formatDashManifest({ tracks, frameRate, childFolder: '3-1', captions: [] });

describe('DASH manifest', () => {
  test('is static, with the duration of the video and a base URL', () => {
    expect(manifest(video, audio)).toContain(
      'type="static" mediaPresentationDuration="PT14.000S" maxSegmentDuration="PT4.011S"',
    );
    expect(manifest(video, audio)).toContain('<BaseURL>3-1/</BaseURL>');
  });
  test.each([
    [[61440, 42000], 'PT6.735S'], // 6.734375 s
    [[61440, 512], 'PT4.034S'], // 4.0333… s
    [[61440, 61440, 61440, 61440], 'PT16.000S'],
    [[15360 * 8 + 153.6 * 4], 'PT8.040S'], // 8.04 s is a little more in floating point
  ])('the presentation of segments of %j ticks is never shorter than its media', (durations, expected) =>
    expect(manifest(track(0, { width: 640, height: 360 }, durations))).toContain(
      `mediaPresentationDuration="${expected}"`,
    ),
  );
  test('one set per kind, one representation per track', () => {
    const text = manifest(video, track(1, { width: 640, height: 360 }, [61440]), { ...audio, id: 2 });
    expect(text.match(/<AdaptationSet [^>]*contentType="(\w+)"/g)).toHaveLength(2);
    expect(
      [...text.matchAll(/<Representation id="(\d)" bandwidth="\d+" codecs="([^"]+)"/g)].map(
        ([, id, codec]) => [id, codec],
      ),
    ).toEqual([
      ['0', 'avc1.64001f'],
      ['1', 'avc1.64001f'],
      ['2', 'mp4a.40.2'],
    ]);
    expect(text).toContain('width="640" height="360" frameRate="30000/1001" sar="1:1"');
    expect(text).toContain('audioSamplingRate="48000"');
  });
  test('each further codec has a set of its own, because players switch only inside a set', () => {
    const av1 = { ...track(100, { width: 1280, height: 720 }, [61440]), codec: 'av01.0.05M.08' };
    const hevc = { ...track(200, { width: 1280, height: 720 }, [61440]), codec: 'hvc1.1.6.L93.B0' };
    const text = manifest(video, audio, av1, hevc);
    const sets = [...text.matchAll(/<AdaptationSet id="(\d)" contentType="(\w+)"[\s\S]*?codecs="(\w+)/g)];
    expect(sets.map(([, id, kind, codec]) => [id, kind, codec])).toEqual([
      ['0', 'video', 'avc1'],
      ['1', 'audio', 'mp4a'],
      ['2', 'video', 'av01'],
      ['3', 'video', 'hvc1'],
    ]);
  });
  test('a set in HDR states colours without which a player must not choose it', () => {
    const hevc = (id: number) => ({
      ...track(id, { width: 1280, height: 720 }, [61440]),
      codec: 'hvc1.2.4.L93.B0',
    });
    const colour = { primaries: 9, transfer: 16, matrix: 9, isFullRange: false };
    const text = manifest(video, audio, hevc(200), { ...hevc(400), colour });
    const [, ...sets] = text.split('<AdaptationSet ');
    expect(sets).toHaveLength(4);
    expect([sets[0], sets[2]].join('')).not.toMatch(/Property|Priority/);
    expect(sets[3]).toContain('selectionPriority="0"');
    expect(sets[3]).toContain('Representation id="400"');
    const properties = [
      ...(sets[3] ?? '').matchAll(/<EssentialProperty schemeIdUri="([^"]+)" value="(\d+)"/g),
    ];
    expect(properties.map(([, scheme, value]) => [scheme, value])).toEqual([
      ['urn:mpeg:mpegB:cicp:ColourPrimaries', '9'],
      ['urn:mpeg:mpegB:cicp:TransferCharacteristics', '16'],
      ['urn:mpeg:mpegB:cicp:MatrixCoefficients', '9'],
    ]);
  });
  test("names that the template yields are the files'", () => {
    expect(manifest(video)).toContain(
      'initialization="r$RepresentationID$-init.mp4" media="r$RepresentationID$-$Number%05d$.m4s"',
    );
  });
  test('consecutive equal durations share an element; a gap starts a new one', () => {
    expect(manifest(video)).toContain('<S t="0" d="61440" r="2"/>\n            <S t="184320" d="30720"/>');
    expect(manifest(audio, video)).toContain(
      [
        '<S t="0" d="189440"/>',
        '            <S t="189440" d="192512" r="1"/>',
        '            <S t="574464" d="99328"/>',
      ].join('\n'),
    );
    const gap = {
      ...video,
      segments: [
        { name: 'a', start: 0, duration: 10, bytes: 1 },
        { name: 'b', start: 15, duration: 10, bytes: 1 },
      ],
    };
    expect(manifest(gap)).toContain('<S t="0" d="10"/>\n            <S t="15" d="10"/>');
  });
  test('a video without audio has one adaptation set', () => expect(manifest(video)).not.toContain('audio'));
});
