// Tests playback in encoder reports: URLs of third-party encoders, files of our own (contract A1, B6).
import { describe, expect, test } from 'vitest';
import { type EncoderReport, parseEncoderReport } from './encoder-report.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const parseThirdParty = (members: object) => parseEncoderReport({ asset_id: ID, ...members }, false);
const parseOwn = (members: object) =>
  parseEncoderReport({ asset_id: ID, attempt: 1, run: 1, ...members }, true);
const HEAD = { source: 'webhook', provider: 'onprem' };
const MAX_INT = 2 ** 31 - 1;

/** Values of a type that no member has. */
const OTHER_TYPES = { text: 'x', blank: '', list: [], members: {}, true: true, false: false };

describe('the URLs of a third-party encoder', () => {
  const hls = 'https://v.example/a.m3u8';

  test('come with ready, byte for byte', () => {
    const playback = { hls, dash: 'http://v.example:8080/ü/%2e%2E/a.mpd?x=1#y', thumbnail: null };
    expect(parseThirdParty({ status: 'ready', playback })).toMatchObject({
      playback: { kind: 'urls', urls: playback },
    });
    expect(parseThirdParty({ status: 'ready', playback })).not.toHaveProperty('warnings');
  });

  test.each([
    'javascript:alert(1)',
    '//v.example/a',
    'https://user@v.example/',
    '',
    `https://v.example/${'a'.repeat(2048)}`,
  ])('are refused one by one, with one warning: %s', (dash) => {
    expect(parseThirdParty({ status: 'ready', playback: { hls, dash, thumbnail: dash } })).toMatchObject({
      event: 'succeeded',
      playback: { urls: { hls, dash: { refused: true }, thumbnail: { refused: true } } },
      warnings: [{ code: 'playback_url_refused' }],
    });
  });

  test('do not come with processing or failed', () => {
    for (const status of ['processing', 'failed'])
      expect(parseThirdParty({ status, playback: { hls } })).not.toHaveProperty('playback');
  });

  test('of another type make the report ignored', () => {
    for (const playback of [...Object.values(OTHER_TYPES), hls, 5]) {
      if (JSON.stringify(playback) !== '{}')
        expect(parseThirdParty({ status: 'ready', playback })).toBeUndefined();
    }
    for (const url of [5, true, [], {}, [hls]])
      expect(parseThirdParty({ status: 'ready', playback: { thumbnail: url } })).toBeUndefined();
    expect(parseThirdParty({ status: 'ready', playback: {} })).toMatchObject({
      playback: { urls: { hls: null, dash: null, thumbnail: null } },
    });
  });
});

describe('a report of our own encoder', () => {
  test('describes the original, unlike that of another encoder', () => {
    const audio = [
      {
        language: 'de',
        name: 'German',
        codec: 'aac',
        channels: 6,
        default: true,
        loudness_lufs: -23,
        true_peak_dbtp: -1.5,
        gain_db: null,
      },
    ];
    expect(parseOwn({ status: 'ready', audio: [...audio, { codec: 5 }] })?.media).toEqual({ audio });
    expect(parseThirdParty({ status: 'ready', audio })?.media).toEqual({});
    expect(parseOwn({ status: 'ready', audio: 'aac' })?.media).toEqual({});
    const media = {
      container: 'mov',
      video: { codec: 'h264', fps: 25, hdr: false, bit_depth: 8 },
      placeholder: 'mQgGDQIniVd/',
    };
    expect(parseOwn({ status: 'ready', ...media })?.media).toEqual(media);
    expect(parseThirdParty({ status: 'ready', ...media })?.media).toEqual({});
    expect(parseOwn({ status: 'processing', playable: true, ...media })?.media).toEqual(media);
    expect(parseThirdParty({ status: 'processing', playable: true, ...media })?.media).toBeUndefined();
  });
  test('refers to the files of its run and ignores URLs', () => {
    const report: EncoderReport = {
      asset_id: ID,
      status: 'ready',
      attempt: 2,
      run: 3,
      progress: 100,
      width: 640,
      height: 360,
      duration_ms: 2000,
    };
    const expected = {
      ...HEAD,
      event: 'succeeded',
      attempt: 2,
      progress: 100,
      playback: { kind: 'own', run: 3 },
      media: { width: 640, height: 360, durationMs: 2000 },
    };
    expect(parseEncoderReport(report, true)).toEqual(expected);
    expect(parseEncoderReport({ ...report, playback: { hls: 'https://v.example/' } }, true)).toEqual(
      expected,
    );
  });

  test('parses the poster time only if it is an integer', () => {
    const posterOf = (value: unknown) =>
      (
        parseOwn({ status: 'ready', poster_time_ms: value })?.playback as
          | { posterTimeMs?: number }
          | undefined
      )?.posterTimeMs;
    expect([0, 1, 90_000].map(posterOf)).toEqual([0, 1, 90_000]);
    for (const value of [undefined, null, '1', -1, 0.5, MAX_INT + 1, Number.NaN, true, [1]])
      expect(posterOf(value)).toBeUndefined();
    expect(parseThirdParty({ status: 'ready', poster_time_ms: 1 })).not.toHaveProperty('playback');
  });

  test('contains warnings; malformed ones are skipped', () => {
    const warning = { code: 'audio_unsupported', message: 'The video plays without sound' };
    const warningsOf = (warnings: unknown) => parseOwn({ status: 'ready', warnings })?.warnings;
    expect(warningsOf([warning])).toEqual([warning]);
    expect(warningsOf([null, 'x', {}, { ...warning, code: 'No Code' }, { code: 'a' }, warning])).toEqual([
      warning,
    ]);
    expect(warningsOf(Array.from({ length: 100 }, () => warning))).toHaveLength(16);
    for (const other of Object.values(OTHER_TYPES)) expect(warningsOf(other)).toBeUndefined();
    expect(parseOwn({ status: 'failed', warnings: [warning] })).not.toHaveProperty('warnings');
  });

  test('has no files unless it is ready', () => {
    for (const status of ['processing', 'failed'])
      expect(parseOwn({ status })).not.toHaveProperty('playback');
  });

  test('is ignored without attempt and run', () => {
    expect(parseEncoderReport({ asset_id: ID, status: 'ready', run: 1 }, true)).toBeUndefined();
    expect(parseEncoderReport({ asset_id: ID, status: 'ready', attempt: 1 }, true)).toBeUndefined();
    expect(parseThirdParty({ status: 'ready', run: 9 })).not.toHaveProperty('playback');
  });
});
