// Tests that each rejection has its code, and that decodable sources are never rejected.
import { describe, expect, test } from 'vitest';
import { FRAME as frame } from '../../model/source.fixture.ts';
import type { SourceFacts, SourceStream } from '../../model/source.ts';
import { audioWarnings, chooseStreams, isTruncationLog } from './stream-choice.ts';

const stream = (index: number, kind: SourceStream['kind'], codec: string): SourceStream => ({
  index,
  kind,
  codec,
  size: null,
  averageRate: null,
  still: false,
});
const choose = (streams: SourceStream[], more: Partial<SourceFacts> = {}, log = '') =>
  chooseStreams(
    { durationSeconds: 1, startSeconds: 0, streams, frame, isRotated: false, ...more },
    'mov',
    log,
  );

const film = stream(0, 'Video', 'h264');
const audio = stream(1, 'Audio', 'aac');
const cover = { ...stream(0, 'Video', 'mjpeg'), still: true };

describe('stream choice', () => {
  test('video and audio', () =>
    expect(choose([film, audio])).toEqual({ video: film, audioStreams: [audio], frame }));
  test('a video without audio', () =>
    expect(choose([film])).toMatchObject({ video: film, audioStreams: [] }));
  test('a cover is not the video stream, in any position', () => {
    expect(choose([cover, stream(1, 'Video', 'vp9')])).toMatchObject({ video: { index: 1 } });
  });
  test('timecodes and other data are no obstacle', () =>
    expect(choose([film, stream(1, 'Data', 'none')])).toMatchObject({ video: film }));

  test('nothing at all', () => expect(choose([])).toMatchObject({ code: 'not_media' }));
  test('only audio', () => expect(choose([audio])).toMatchObject({ code: 'no_video_track' }));
  test('only a cover', () => expect(choose([audio, cover])).toMatchObject({ code: 'no_video_track' }));
  test('an unknown video codec', () =>
    expect(choose([stream(0, 'Video', 'dvvideo')])).toMatchObject({ code: 'unsupported_codec' }));
  test('a codec named like a part of every object', () =>
    expect(choose([stream(0, 'Video', 'constructor')])).toMatchObject({ code: 'unsupported_codec' }));
  test('the message names the unsupported video codec', () => {
    expect(choose([stream(0, 'Video', 'dvvideo')])).toMatchObject({
      message: expect.stringMatching(/^The video codec "dvvideo" is not supported\. Supported: h264, hevc, /),
    });
    expect(choose([{ ...stream(0, 'Video', 'none'), tag: 'dvh9' }])).toMatchObject({
      message: expect.stringMatching(/^The video codec "dvh9" is not supported\. Supported: h264, hevc, /),
    });
  });
  test('a frame of more than 36 megapixels', () => {
    expect(choose([{ ...film, size: { width: 8192, height: 8192 } }], { frame: null })).toMatchObject({
      code: 'picture_too_large',
    });
    expect(choose([{ ...film, size: { width: 7680, height: 4320 } }])).toMatchObject({ audioStreams: [] });
  });
  test('not one frame', () => {
    expect(choose([film], { frame: null })).toMatchObject({ code: 'not_media' });
    expect(
      choose([film], { frame: null }, '[mov @ 0x1] stream 0, offset 0x2110a: partial file\n'),
    ).toMatchObject({ code: 'truncated' });
  });
  test('the message of ffmpeg for missing bytes', () => {
    expect(isTruncationLog('[mov,mp4 @ 0x55] stream 1, offset 0x30: partial file\nmore')).toBe(true);
    expect(isTruncationLog("Input #0, from 'file:partial file.mp4'")).toBe(false);
  });
});

describe('the warning about missing audio', () => {
  const spatial = { ...stream(2, 'Audio', 'none'), tag: 'apac' };
  const undecodable = [stream(1, 'Audio', 'qdm2'), spatial, spatial];

  test('names each codec once where no track is left', () => {
    expect(audioWarnings({ encoded: [], undecodable, excess: [] })).toEqual([
      {
        code: 'audio_unsupported',
        message: 'The video plays without sound: its audio cannot be decoded (qdm2, apac)',
      },
    ]);
  });
  test('names each dropped track where others are left', () => {
    const excess = [stream(9, 'Audio', 'aac')];
    expect(audioWarnings({ encoded: [audio], undecodable: [spatial], excess })).toEqual([
      {
        code: 'audio_tracks_dropped',
        message:
          'Audio tracks are missing: stream 2 (apac) cannot be decoded, ' +
          'stream 9 (aac) exceeds the limit of 8',
      },
    ]);
  });
  test('is absent where nothing is missing', () => {
    expect(audioWarnings({ encoded: [audio], undecodable: [], excess: [] })).toEqual([]);
    expect(audioWarnings({ encoded: [], undecodable: [], excess: [] })).toEqual([]);
  });
});
