// Tests how videos of the cdnhost API are parsed; its status numbers differ from those of webhooks (contract
// B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StreamReport } from '../../lifecycle/decisions/stream-report.ts';
import { findDownloadFile, parseHeights, toInspection, parseAssetId, toTitle } from './cdnhost-video.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const inspect = (members: object) => toInspection({ guid: GUID, ...members }, GUID);

function reportOf(members: object): StreamReport {
  const found = inspect(members);
  if (found.state !== 'known') throw new Error(found.state);
  return found.report;
}

describe('a video', () => {
  test('without bytes is waiting', () => {
    expect(inspect({ status: 0 })).toEqual({ state: 'waiting' });
  });

  test.each([
    [1, 'started'],
    [2, 'started'],
    [3, 'started'],
    [7, 'started'],
    [4, 'succeeded'],
    [8, 'succeeded'],
    [5, 'failed'],
    [6, 'failed'],
    [9, 'started'],
    [-1, 'started'],
    [1e9, 'started'],
  ])('of status %d has %s', (status, event) => {
    expect(reportOf({ status })).toMatchObject({ source: 'inspect', provider: 'cdnhost', event });
  });

  test.each([undefined, null, '4', 4.5, Number.NaN, [4], true])(
    'of status %j is a provider error',
    (status) => {
      expect(() => inspect({ status })).toThrow(
        expect.objectContaining({
          providerCode: 'unreadable status',
          failure: expect.objectContaining({ code: 'provider_error' }),
        }),
      );
    },
  );

  test('in progress reports its percentage, its playable heights and what is known of the film', () => {
    expect(
      reportOf({ status: 3, encodeProgress: 41, availableResolutions: '240p,360p', length: 12 }),
    ).toEqual({
      source: 'inspect',
      provider: 'cdnhost',
      event: 'started',
      progress: 41,
      media: { durationMs: 12_000 },
      renditions: [
        { height: 240, state: 'ready' },
        { height: 360, state: 'ready' },
      ],
    });
    for (const [encodeProgress, progress] of [
      [-5, 0],
      [250, 100],
      ['x', undefined],
      [null, undefined],
    ])
      expect(reportOf({ status: 3, encodeProgress }).progress).toBe(progress);
  });

  test('that is ready is complete, and brings its renditions, size and duration', () => {
    expect(
      reportOf({
        status: 4,
        availableResolutions: '720p',
        width: 1280,
        height: 720,
        length: 12,
        storageSize: 99,
      }),
    ).toEqual({
      source: 'inspect',
      provider: 'cdnhost',
      event: 'succeeded',
      complete: true,
      renditions: [{ height: 720, state: 'ready' }],
      media: { width: 1280, height: 720, durationMs: 12_000, sizeBytes: 99 },
      playback: { kind: 'hosted', videoId: GUID, urls: {} },
    });
    expect(reportOf({ status: 4, width: 0, height: -1, length: 0 }).media).toEqual({});
  });
});

describe('a failure', () => {
  const failed = (...transcodingMessages: unknown[]) => reportOf({ status: 5, transcodingMessages });

  test.each([
    [3, 'unsupported_size', 'IncompatibleResolution'],
    [4, 'unsupported_frame_rate', 'InvalidFramerate'],
    [5, 'too_long', 'VideoExceededMaxDuration'],
    [6, 'too_long', 'AudioExceededMaxDuration'],
    [7, 'not_media', 'OriginalCorrupted'],
  ])('with the issue %d is our %s', (issueCode, code, providerCode) => {
    expect(
      failed({ level: 2, issueCode: 2 }, { level: 3, issueCode, message: 'x' }, { issueCode: 0 }),
    ).toMatchObject({
      event: 'failed',
      failure: { code, retryable: false, message: expect.stringMatching(/^The .*video provider/) },
      providerCode,
    });
  });

  test.each([
    [0, 'Undefined'],
    [1, 'StreamLengthsDifference'],
    [2, 'TranscodingWarnings'],
    [8, 'TranscriptionFailed'],
    [9, 'JitIncompatible'],
  ])('with the issue %d alone is an ordinary one, of the code %s', (issueCode, providerCode) => {
    expect(failed({ issueCode })).toMatchObject({ failure: { code: 'encode_failed' }, providerCode });
  });

  test('with an unknown code keeps its message', () => {
    expect(failed({ issueCode: 10, message: ' Some\nthing\0 ' })).toMatchObject({
      failure: { code: 'encode_failed', message: 'Some thing', retryable: true },
      providerCode: 'JitFailed',
    });
    expect(failed({ issueCode: 99 })).toMatchObject({
      failure: { code: 'encode_failed' },
      providerCode: 'issue 99',
    });
  });

  test('without messages that can be read is an ordinary one', () => {
    for (const messages of [
      undefined,
      null,
      'x',
      [],
      [null],
      [7],
      [[]],
      [{}],
      [{ issueCode: 'OriginalCorrupted' }],
      [{ issueCode: -1.5, message: 7 }],
    ]) {
      expect(reportOf({ status: 5, transcodingMessages: messages })).toEqual({
        source: 'inspect',
        provider: 'cdnhost',
        event: 'failed',
        failure: {
          code: 'encode_failed',
          message: 'The video provider could not encode this video.',
          retryable: true,
        },
      });
    }
  });

  test('of the upload is identified', () => {
    expect(reportOf({ status: 6 }).failure).toEqual({
      code: 'upload_failed',
      message: 'The upload to the video provider failed.',
      retryable: true,
    });
  });
});

test.each([
  ['240p,360p', [240, 360]],
  [' 720p , 1080p', [720, 1080]],
  ['', []],
  [null, []],
  [7, []],
  ['p,0p,-1p,1e3p,99999p,abc,240px', []],
  ['360p,'.repeat(1000), Array.from({ length: 20 }, () => 360)],
])('the heights in %j', (availableResolutions, heights) => {
  expect(parseHeights({ availableResolutions })).toEqual(heights);
});

test.each([
  [{ hasOriginal: true, hasMP4Fallback: true, availableResolutions: '720p' }, 'original'],
  [{ hasMP4Fallback: true, availableResolutions: '240p,480p,720p,1440p' }, 'play_720p.mp4'],
  [{ hasMP4Fallback: true, availableResolutions: '2160p' }, 'play_2160p.mp4'],
  [{ hasMP4Fallback: true, availableResolutions: '1440p,2160p' }, undefined],
  [{ hasMP4Fallback: true, availableResolutions: null }, undefined],
  [{ hasMP4Fallback: false, availableResolutions: '720p' }, undefined],
  [{ hasOriginal: 'yes' }, undefined],
  [{}, undefined],
])('the file of %j is %s', (video, file) => {
  expect(findDownloadFile(video)).toBe(file);
});

describe('the title of a video', () => {
  const assetId = '0198c0de-0000-7000-8000-000000000001';

  test('contains its asset id for any file name', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.constantFrom(`x [mediary:${GUID}]`, '[mediary:', ']', '🎬'.repeat(255), `x${'🎬'.repeat(255)}`),
        ),
        (filename) => {
          const title = toTitle({ filename, assetId });
          expect([parseAssetId(title), title.length < 255, title.isWellFormed()]).toEqual([
            assetId,
            true,
            true,
          ]);
        },
      ),
    );
    expect(toTitle({ filename: 'clip.mp4', assetId })).toBe(`clip.mp4 [mediary:${assetId}]`);
  });

  test.each([
    undefined,
    null,
    7,
    '',
    'clip.mp4',
    `[mediary:${GUID}] clip.mp4`,
    '[mediary:------------------------------------]',
    `[mediary:${GUID.slice(1)}]`,
    `(mediary:${GUID})`,
  ])('of another origin has no asset id: %j', (title) => {
    expect(parseAssetId(title)).toBeUndefined();
  });
});
