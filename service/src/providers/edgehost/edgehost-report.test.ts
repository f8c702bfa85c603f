// Tests how edgehost webhooks are parsed: state, playback URLs and both spellings of errors (contract A6, B5, B6).
import { describe, expect, test } from 'vitest';
import { readEdgehost } from './edgehost-report.ts';

const UID = '00112233445566778899aabbccddeeff';
const HOST = 'customer-x.example';
const read = (body: unknown, host: string | undefined = HOST) =>
  readEdgehost(Buffer.from(JSON.stringify(body)), host);
const readHostless = (body: unknown) => readEdgehost(Buffer.from(JSON.stringify(body)), undefined);
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
  ])('with the state %j is nothing to act on', (state) => {
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
  ])('of another shape is nothing to act on: %j', (body) => {
    expect(read(body)).toEqual(NOTHING);
  });

  test.each([null, '', '  ', 7, true, [UID], { a: 1 }, 'a\0b', '\ud800', 'x'.repeat(256)])(
    'with the uid %j is nothing to act on',
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
    ).toMatchObject({ report: { playback: { kind: 'urls', urls }, warnings: [] } });
  });

  test("without addresses has those of the account's host", () => {
    const urls = {
      hls: `https://${HOST}/${UID}/manifest/video.m3u8`,
      dash: `https://${HOST}/${UID}/manifest/video.mpd`,
      thumbnail: `https://${HOST}/${UID}/thumbnails/thumbnail.jpg`,
    };
    for (const members of [{}, { playback: null, thumbnail: null }, { playback: 'x' }, { playback: [] }])
      expect(read(video(members))).toMatchObject({ report: { playback: { urls }, warnings: [] } });
    expect(read(video({ playback: { hls: 'https://a.example/a' } }))).toMatchObject({
      report: { playback: { urls: { ...urls, hls: 'https://a.example/a' } } },
    });
    expect(read(video({ uid: '../a?b' }))).toMatchObject({
      report: { playback: { urls: { hls: `https://${HOST}/..%2Fa%3Fb/manifest/video.m3u8` } } },
    });
  });

  test('without addresses and without that host is ready with a warning', () => {
    expect(readHostless(video())).toMatchObject({
      report: {
        event: 'succeeded',
        playback: { urls: { hls: null, dash: null, thumbnail: null } },
        warnings: [
          {
            code: 'playback_unconfigured',
            message: expect.stringMatching(/^EDGEHOST_CUSTOMER_SUBDOMAIN is not set/),
          },
        ],
      },
    });
    expect(readHostless(video({ playback: { hls: 'https://a.example/a' } }))).toMatchObject({
      report: {
        playback: { urls: { hls: 'https://a.example/a', dash: null } },
        warnings: [{ code: 'playback_unconfigured' }],
      },
    });
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
              message: expect.stringMatching(/^The provider gave a playback URL/),
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
    expect(read(video({ input: { width: 1920, height: 1080 }, duration: 12.5 }))).toMatchObject({
      report: { picture: { width: 1920, height: 1080, durationMs: 12_500 } },
    });
    for (const members of [
      { input: { width: -1, height: -1 }, duration: -1 },
      { input: 'x', duration: '12' },
      { input: { width: 1.5, height: 1e9 }, duration: 1e300 },
      {},
    ]) {
      expect(read(video(members))).toHaveProperty('report.picture', {});
    }
  });
});

test('lists within lists, 20 000 deep, stop nothing', () => {
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const body = `{"uid":"${UID}","status":{"state":"ready","pctComplete":${deep}},"playback":{"hls":${deep}},"thumbnail":${deep},"input":${deep},"meta":${deep}}`;
  expect(readEdgehost(Buffer.from(body), HOST)).toMatchObject({
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
  ])('%s is our %s, in either spelling', (told, code, retryable) => {
    expect(failure({ errorReasonCode: told })).toMatchObject({
      code,
      retryable,
      message: expect.stringMatching(/^The .*video host/),
    });
    expect(failure({ errReasonCode: told })).toMatchObject({ code, retryable });
    expect(failure({ errorReasonCode: '', errReasonCode: told })).toMatchObject({ code, retryable });
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
