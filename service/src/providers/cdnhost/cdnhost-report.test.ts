// Tests how cdnhost webhooks are parsed: status numbers, library and playback URLs (contract A6, B5, B6).
import { describe, expect, test } from 'vitest';
import { readCdnhost } from './cdnhost-report.ts';

const GUID = '11112222-3333-4444-8555-666677778888';
const PLACES = { libraryId: '4242', hostname: 'vz-1.example' };
const read = (body: string | object, places: Parameters<typeof readCdnhost>[1] = PLACES) =>
  readCdnhost(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), places);
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

  test.each([0, 1, 2, 6, 9, 10, 11, 99, -3, 1e15])('with status %d is nothing to act on', (Status) => {
    expect(read(webhook({ Status }))).toEqual(NOTHING);
  });

  test("carries the addresses of the library's host, and none for DASH", () => {
    const urls = {
      hls: `https://vz-1.example/${GUID}/playlist.m3u8`,
      thumbnail: `https://vz-1.example/${GUID}/thumbnail.jpg`,
    };
    for (const Status of [3, 4])
      expect(read(webhook({ Status }))).toMatchObject({ report: { playback: { kind: 'urls', urls } } });
    for (const Status of [5, 7, 8]) expect(read(webhook({ Status }))).not.toHaveProperty('report.playback');
  });

  test('is ready with a warning where the host is not known', () => {
    const unknown = { libraryId: undefined, hostname: undefined };
    expect(read(webhook(), unknown)).toMatchObject({
      report: {
        event: 'succeeded',
        warnings: [
          {
            code: 'playback_unconfigured',
            message: expect.stringMatching(/^CDNHOST_STREAM_HOSTNAME is not set/),
          },
        ],
      },
    });
    expect(read(webhook(), unknown)).not.toHaveProperty('report.playback');
    expect(read(webhook({ Status: 5 }), unknown)).not.toHaveProperty('report.warnings');
  });

  test('of another library does not count, whatever its status; any does where none is set', () => {
    for (const Status of [0, 3, 5])
      expect(read(webhook({ VideoLibraryId: 4243, Status }))).toEqual({ reason: 'wrong_library' });
    expect(read(webhook({ VideoLibraryId: 1 }), { ...PLACES, libraryId: undefined })).toHaveProperty(
      'report',
    );
  });

  test('cannot lead an address to another place by its id', () => {
    expect(read(webhook({ VideoGuid: '../../a?b#c' }))).toMatchObject({
      report: { playback: { urls: { hls: 'https://vz-1.example/..%2F..%2Fa%3Fb%23c/playlist.m3u8' } } },
    });
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
  ])('of another shape is nothing to act on: %s', (body) => {
    expect(read(body)).toEqual(NOTHING);
  });

  test.each(['VideoLibraryId', 'VideoGuid', 'Status'])('without a good %s is nothing to act on', (member) => {
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
  ])('whose status is written %s is nothing to act on', (status) => {
    expect(read(`{"VideoLibraryId":4242,"VideoGuid":"${GUID}","Status":${status}}`)).toEqual(NOTHING);
    expect(
      read(`{"Status":${status},"VideoLibraryId":3,"Other":3,"VideoGuid":"${GUID}"}`, {
        ...PLACES,
        libraryId: undefined,
      }),
    ).toEqual(NOTHING);
  });

  test.each(['4242.0000000000001', '4242000000000000000000000e-21', '"4242"', '12345678901234567890123'])(
    'whose library is written %s is nothing to act on',
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
      `{"Deep":${'['.repeat(20_000)}${']'.repeat(20_000)},"Status":3,"VideoLibraryId":4242,"VideoGuid":"${GUID}"}`,
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
