// Tests how edgehost webhooks are parsed: state, playback URLs and both spellings of errors (contract A6, B5,
// B6).
import { describe, expect, test } from 'vitest';
import { parseEdgehostWebhook } from './edgehost-video.ts';

const UID = '00112233445566778899aabbccddeeff';
const read = (body: unknown) => parseEdgehostWebhook(Buffer.from(JSON.stringify(body)));
const video = (members: object = {}) => ({ uid: UID, status: { state: 'ready' }, ...members });
const withStatus = (status: object) => read(video({ status }));
const NOTHING = { reason: 'not_actionable' };

describe('a webhook of edgehost', () => {
  test('is a report where its state is ready or error', () => {
    expect(read(video())).toMatchObject({
      report: { source: 'webhook', provider: 'edgehost', event: 'succeeded' },
      ref: { provider: 'edgehost', providerVideoId: UID },
    });
    expect(withStatus({ state: 'error' })).toMatchObject({
      report: { event: 'failed', failure: { code: 'encode_failed', retryable: true } },
    });
  });

  test.each([
    'pendingupload',
    'downloading',
    'queued',
    'inprogress',
    'live-inprogress',
    'Ready',
    'ready ',
    '',
    'toString',
    undefined,
    null,
    1,
    true,
    ['ready'],
    {},
  ])('with the state %j is not actionable', (state) => {
    expect(withStatus({ state })).toEqual(NOTHING);
  });

  test.each([
    null,
    [],
    {},
    7,
    'text',
    [video()],
    { video: video() },
    { uid: UID },
    { status: { state: 'ready' } },
    { uid: UID, status: 'ready' },
    { uid: UID, status: ['ready'] },
    { uid: UID, status: null },
  ])('of another shape is not actionable: %j', (body) => {
    expect(read(body)).toEqual(NOTHING);
  });

  test.each([null, '', '  ', 7, true, [UID], { a: 1 }, 'a\0b', '\ud800', 'x'.repeat(256)])(
    'with the uid %j is not actionable',
    (uid) => {
      expect(read(video({ uid }))).toEqual(NOTHING);
    },
  );

  test('brings the addresses of its body, byte for byte', () => {
    const urls = {
      hls: 'https://a.example/ü/%2e.m3u8?x',
      dash: 'https://a.example/a.mpd',
      thumbnail: 'https://a.example/t.jpg',
    };
    expect(
      read(video({ playback: { hls: urls.hls, dash: urls.dash }, thumbnail: urls.thumbnail })),
    ).toMatchObject({ report: { playback: { kind: 'hosted', videoId: UID, urls }, warnings: [] } });
  });

  test('without URLs names the video to play', () => {
    const playback = { kind: 'hosted', videoId: UID, urls: { hls: null, dash: null, thumbnail: null } };
    for (const members of [{}, { playback: null, thumbnail: null }, { playback: 'x' }, { playback: [] }])
      expect(read(video(members))).toMatchObject({ report: { playback, warnings: [] } });
  });

  test('loses an address that breaks the rule, and is ready with a warning', () => {
    for (const bad of ['javascript:alert(1)', '//a.example', 'https://u@a.example/', 7, {}, true]) {
      expect(read(video({ playback: { hls: bad, dash: 'https://a.example/a.mpd' } }))).toMatchObject({
        report: {
          event: 'succeeded',
          playback: { urls: { hls: { refused: true }, dash: 'https://a.example/a.mpd' } },
          warnings: [
            {
              code: 'playback_url_refused',
              message: expect.stringMatching(/^The provider reported a playback URL/),
            },
          ],
        },
      });
    }
  });

  test('is final unless more renditions follow', () => {
    const complete = (pctComplete: unknown) => withStatus({ state: 'ready', pctComplete });
    for (const percent of [
      '100.000000',
      '100',
      100,
      undefined,
      null,
      '',
      'x',
      true,
      {},
      [],
      { toString: 1, valueOf: 1 },
    ])
      expect(complete(percent)).toMatchObject({ report: { complete: true } });
    for (const percent of ['39.000000', '99.9', '0'])
      expect(complete(percent)).toMatchObject({ report: { complete: false } });
  });

  test('contains size and duration, if known', () => {
    expect(read(video({ input: { width: 1920, height: 1080 }, duration: 12.5, size: 99 }))).toMatchObject({
      report: { media: { width: 1920, height: 1080, durationMs: 12_500, sizeBytes: 99 } },
    });
    for (const members of [
      { input: { width: -1, height: -1 }, duration: -1, size: 0 },
      { input: 'x', duration: '12', size: '99' },
      { input: { width: 1.5, height: 1e9 }, duration: 1e300 },
      {},
    ]) {
      expect(read(video(members))).toHaveProperty('report.media', {});
    }
  });
});

test('lists within lists, 20 000 deep, stop nothing', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const body =
    `{"uid":"${UID}","status":{"state":"ready","pctComplete":${deep}},"playback":{"hls":${deep}},` +
    `"thumbnail":${deep},"input":${deep},"meta":${deep}}`;
  expect(parseEdgehostWebhook(Buffer.from(body))).toMatchObject({
    report: { event: 'succeeded', complete: true },
  });
});

describe('a failure of edgehost', () => {
  const failure = (status: object) => {
    const reading = withStatus({ state: 'error', ...status });
    return 'report' in reading ? reading.report.failure : undefined;
  };

  test.each([
    ['ERR_NON_VIDEO', 'not_media', false],
    ['ERR_MALFORMED_VIDEO', 'not_media', false],
    ['ERR_DURATION_TOO_SHORT', 'too_short', false],
    ['ERR_DURATION_EXCEED_CONSTRAINT', 'too_long', false],
    ['ERR_FETCH_ORIGIN_ERROR', 'fetch_failed', true],
  ])('%s is our %s, in either spelling', (reported, code, retryable) => {
    expect(failure({ errorReasonCode: reported })).toMatchObject({
      code,
      retryable,
      message: expect.stringMatching(/^The .*video/),
    });
    expect(failure({ errReasonCode: reported })).toMatchObject({ code, retryable });
    expect(failure({ errorReasonCode: '', errReasonCode: reported })).toMatchObject({ code, retryable });
  });

  test('with an unknown code keeps its message', () => {
    expect(failure({ errorReasonCode: 'ERR_NEW', errorReasonText: ' Some\nthing\0 ' })).toEqual({
      code: 'encode_failed',
      message: 'Some thing',
      retryable: true,
    });
    expect(failure({ errorReasonText: '', errReasonText: 'Other' })?.message).toBe('Other');
    expect(failure({ errReasonText: `${'x'.repeat(499)}🎬` })?.message.isWellFormed()).toBe(true);
  });

  test.each(['__proto__', 'constructor', 'toString', 7, null, ['ERR_NON_VIDEO'], { a: 1 }, ''])(
    'with the code %j is an ordinary one',
    (errorReasonCode) => {
      expect(failure({ errorReasonCode, errorReasonText: errorReasonCode })).toEqual({
        code: 'encode_failed',
        message: expect.stringMatching(/\S/),
        retryable: true,
      });
    },
  );
});
