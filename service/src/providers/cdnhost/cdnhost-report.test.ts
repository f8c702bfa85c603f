// Tests how cdnhost webhooks are parsed: status numbers, library and playback URLs (contract A6, B5, B6).
import { describe, expect, test } from 'vitest';
import { cdnhostPlayback, parseCdnhostWebhook } from './cdnhost-report.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const LIBRARY = { libraryId: '4242', hostname: 'vz-1.example' };
const read = (body: string | object, library: Parameters<typeof parseCdnhostWebhook>[1] = LIBRARY) =>
  parseCdnhostWebhook(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), library);
const webhook = (members: object = {}) => ({ VideoLibraryId: 4242, VideoGuid: GUID, Status: 3, ...members });
const NOTHING = { reason: 'not_actionable' };

describe('a webhook of cdnhost', () => {
  test.each([
    [3, { event: 'succeeded', complete: true }],
    [4, { event: 'succeeded', complete: false }],
    [7, { event: 'started' }],
    [5, { event: 'failed', failure: { code: 'encode_failed', retryable: true } }],
    [8, { event: 'failed', failure: { code: 'upload_failed', retryable: true } }],
  ])('with status %d is a report', (Status, expected) => {
    expect(read(webhook({ Status }))).toMatchObject({
      report: { source: 'webhook', provider: 'cdnhost', ...expected },
      ref: { provider: 'cdnhost', providerVideoId: GUID },
    });
  });

  test.each([0, 1, 2, 6, 9, 10, 11, 99, -3, 1e15])('with status %d is not actionable', (Status) => {
    expect(read(webhook({ Status }))).toEqual(NOTHING);
  });

  test('that is ready names the video to play, without URLs', () => {
    const playback = { kind: 'hosted', videoId: GUID, urls: {} };
    for (const Status of [3, 4])
      expect(read(webhook({ Status }))).toHaveProperty('report.playback', playback);
    for (const Status of [5, 7, 8]) expect(read(webhook({ Status }))).not.toHaveProperty('report.playback');
  });

  test('of another library does not count, whatever its status; any does where none is set', () => {
    for (const Status of [0, 3, 5])
      expect(read(webhook({ VideoLibraryId: 4243, Status }))).toEqual({ reason: 'wrong_library' });
    expect(read(webhook({ VideoLibraryId: 1 }), { ...LIBRARY, libraryId: undefined })).toHaveProperty(
      'report',
    );
  });

  test.each([
    'null',
    '[]',
    '{}',
    '7',
    '"text"',
    'true',
    '[{"VideoLibraryId":4242}]',
    JSON.stringify([webhook()]),
    JSON.stringify({ data: webhook() }),
  ])('of another shape is not actionable: %s', (body) => {
    expect(read(body)).toEqual(NOTHING);
  });

  test.each(['VideoLibraryId', 'VideoGuid', 'Status'])('without a good %s is not actionable', (member) => {
    for (const value of [
      undefined,
      null,
      '',
      ' ',
      true,
      [],
      [3],
      {},
      { toString: 1 },
      3.5,
      'x\0',
      '\ud800',
      'x'.repeat(256),
    ]) {
      expect([value, read(webhook({ [member]: value }))]).toEqual([value, NOTHING]);
    }
  });

  test.each([
    '3.0000000000000001',
    '"3"',
    '3.1',
    '2.9999999999999999999',
    '3e0',
    '30e-1',
    '0.3e1',
    '1e400',
    '12345678901234567890123',
    '[3]',
    'true',
  ])('whose status is written %s is not actionable', (status) => {
    expect(read(`{"VideoLibraryId":4242,"VideoGuid":"${GUID}","Status":${status}}`)).toEqual(NOTHING);
    expect(
      read(`{"Status":${status},"VideoLibraryId":3,"Other":3,"VideoGuid":"${GUID}"}`, {
        ...LIBRARY,
        libraryId: undefined,
      }),
    ).toEqual(NOTHING);
  });

  test.each(['4242.0000000000001', '4242000000000000000000000e-21', '"4242"', '12345678901234567890123'])(
    'whose library is written %s is not actionable',
    (library) => {
      expect(read(`{"VideoLibraryId":${library},"VideoGuid":"${GUID}","Status":3}`)).toEqual(NOTHING);
    },
  );

  test('may be written with any spaces, with a fraction of nothing, and with members nobody knows', () => {
    for (const body of [
      `\n{ "VideoLibraryId" : 4242 ,\r\n\t"VideoGuid" : "${GUID}" , "Status" : 3 }\n`,
      `{"Status":3.0,"VideoLibraryId":4242.000,"VideoGuid":"${GUID}"}`,
      JSON.stringify({ ...webhook(), Extra: { Status: 5 }, constructor: null }),
      `{"__proto__":{"Status":5},"Status":3,"VideoLibraryId":4242,"VideoGuid":"${GUID}"}`,
      `{"Deep":${'['.repeat(20_000)}${']'.repeat(20_000)},` +
        `"Status":3,"VideoLibraryId":4242,"VideoGuid":"${GUID}"}`,
    ])
      expect(read(body)).toMatchObject({ report: { event: 'succeeded' } });
  });

  test('takes the last of two members with one name, as JSON does, and none from __proto__', () => {
    expect(read(`{"VideoLibraryId":4242,"VideoGuid":"${GUID}","Status":3,"Status":5}`)).toMatchObject({
      report: { event: 'failed' },
    });
    expect(read(`{"__proto__":${JSON.stringify(webhook())}}`)).toEqual(NOTHING);
  });
});

describe('playback of cdnhost', () => {
  test("uses the library's host, and has no DASH", () => {
    expect(cdnhostPlayback(GUID, 'vz-1.example')).toEqual({
      urls: {
        hls: `https://vz-1.example/${GUID}/playlist.m3u8`,
        dash: null,
        thumbnail: `https://vz-1.example/${GUID}/thumbnail.jpg`,
      },
    });
    expect(cdnhostPlayback(GUID, 'http://127.0.0.1:9001/').urls.hls).toBe(
      `http://127.0.0.1:9001/${GUID}/playlist.m3u8`,
    );
  });

  test('has a warning instead of URLs while the host is not set', () => {
    expect(cdnhostPlayback(GUID, undefined)).toEqual({
      urls: { hls: null, dash: null, thumbnail: null },
      warning: { code: 'playback_unconfigured', message: expect.stringContaining('CDNHOST_STREAM_HOSTNAME') },
    });
  });

  test('keeps ids within one path segment', () => {
    expect(cdnhostPlayback('../../a?b#c', 'vz-1.example').urls.hls).toBe(
      'https://vz-1.example/..%2F..%2Fa%3Fb%23c/playlist.m3u8',
    );
  });
});
