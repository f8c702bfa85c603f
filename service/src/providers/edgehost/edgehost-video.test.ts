// Tests how videos of the edgehost API are parsed; webhooks use the same rules (contract B6).
import { describe, expect, test } from 'vitest';
import { edgehostPlayback, toInspection, parseEdgehostWebhook } from './edgehost-video.ts';

const UID = '00112233445566778899aabbccddeeff';
const inspect = (status: unknown, members: object = {}) =>
  toInspection({ uid: UID, status, ...members }, { source: 'inspect', uid: UID });

describe('a video', () => {
  test('without bytes is waiting', () => {
    expect(inspect({ state: 'pendingupload', pctComplete: '0.0' })).toEqual({ state: 'waiting' });
  });

  test.each(['queued', 'inprogress', 'downloading', 'live-inprogress', 'something-new'])(
    'that is %s has started',
    (state) => {
      expect(inspect({ state })).toEqual({
        state: 'known',
        report: { source: 'inspect', provider: 'edgehost', event: 'started' },
      });
    },
  );

  test.each([
    ['39.731', 39],
    ['100.000000', 100],
    [50, 50],
    ['-1', 0],
    ['', undefined],
    [null, undefined],
    ['x', undefined],
    [[], undefined],
  ])('under way at %j is at %j', (pctComplete, progress) => {
    const result = inspect({ state: 'inprogress', pctComplete });
    expect('report' in result && result.report.progress).toBe(progress);
  });

  test('that is playable but still encoding is not complete', () => {
    expect(inspect({ state: 'ready', pctComplete: '39.0' })).toMatchObject({
      report: { source: 'inspect', event: 'succeeded', complete: false },
    });
    expect(inspect({ state: 'ready', pctComplete: '100.0' })).toMatchObject({
      report: {
        complete: true,
        playback: { kind: 'hosted', videoId: UID, urls: { hls: null, dash: null, thumbnail: null } },
      },
    });
  });

  test("that failed has the product's code and our message", () => {
    expect(inspect({ state: 'error', errorReasonCode: 'ERR_DURATION_TOO_SHORT' })).toMatchObject({
      report: { event: 'failed', failure: { code: 'too_short' }, providerCode: 'ERR_DURATION_TOO_SHORT' },
    });
    expect(inspect({ state: 'error', errorReasonCode: { a: 1 } })).not.toHaveProperty('report.providerCode');
  });

  test.each([undefined, null, 'ready', [], {}, { state: 7 }, { state: null }])(
    'of the status %j is a provider error',
    (status) => {
      expect(() => inspect(status)).toThrow(
        expect.objectContaining({ failure: expect.objectContaining({ code: 'provider_error' }) }),
      );
    },
  );

  test.each([
    { state: 'ready', pctComplete: '40' },
    { state: 'error', errReasonCode: 'ERR_NON_VIDEO', errReasonText: 'x' },
  ])('is parsed to the same report in a webhook: %j', (status) => {
    const video = {
      uid: UID,
      status,
      input: { width: 640, height: 360 },
      duration: 1.5,
      playback: { hls: 'https://a.example/a' },
    };
    const webhook = parseEdgehostWebhook(Buffer.from(JSON.stringify(video)));
    const inspected = inspect(status, video);
    expect('report' in webhook && webhook.report).toEqual({
      ...(inspected.state === 'known' && inspected.report),
      source: 'webhook',
    });
  });
});

describe('playback of edgehost', () => {
  const HOST = 'customer-x.example';
  const video = (more: object = {}) => ({ kind: 'hosted', attempt: 1, videoId: UID, ...more }) as const;
  const COMPUTED = {
    hls: `https://${HOST}/${UID}/manifest/video.m3u8`,
    dash: `https://${HOST}/${UID}/manifest/video.mpd`,
    thumbnail: `https://${HOST}/${UID}/thumbnails/thumbnail.jpg`,
  };
  const NOTHING = { hls: null, dash: null, thumbnail: null };
  const WARNING = {
    code: 'playback_unconfigured',
    message: expect.stringContaining('EDGEHOST_CUSTOMER_SUBDOMAIN'),
  };

  test("uses the account's host", () => {
    expect(edgehostPlayback(video(), HOST)).toEqual({ urls: COMPUTED });
    expect(edgehostPlayback(video({ videoId: '../a?b' }), HOST).urls.hls).toBe(
      `https://${HOST}/..%2Fa%3Fb/manifest/video.m3u8`,
    );
  });

  test('prefers the URLs that the provider gave, byte for byte', () => {
    const given = { hls: 'https://a.example/%2e?x' };
    expect(edgehostPlayback(video(given), HOST)).toEqual({ urls: { ...COMPUTED, ...given } });
    expect(edgehostPlayback(video(given), undefined)).toEqual({
      urls: { ...NOTHING, ...given },
      warning: WARNING,
    });
  });

  test('does not replace a refused URL', () => {
    expect(edgehostPlayback(video({ hls: null }), HOST)).toEqual({ urls: { ...COMPUTED, hls: null } });
    expect(edgehostPlayback(video(NOTHING), undefined)).toEqual({ urls: NOTHING });
  });

  test('has a warning while the host is not set', () => {
    expect(edgehostPlayback(video(), undefined)).toEqual({ urls: NOTHING, warning: WARNING });
  });
});
