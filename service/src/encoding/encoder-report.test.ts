// Tests how the members of the onprem webhook are parsed, and which bodies are ignored (contract A1, B5, B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type EncoderReport, parseEncoderReport } from './encoder-report.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const stranger = (members: object) => parseEncoderReport({ asset_id: ID, ...members }, false);
const ours = (members: object) => parseEncoderReport({ asset_id: ID, attempt: 1, try: 1, ...members }, true);
const HEAD = { source: 'webhook', provider: 'onprem' };
const MAX_INT = 2 ** 31 - 1;
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** Values that are neither absent nor of the type in question. */
const OTHER = { text: 'x', blank: '', list: [], members: {}, true: true, false: false };
const NO_COUNT = {
  ...OTHER,
  digits: '1',
  zero: 0,
  negative: -1,
  fraction: 1.5,
  'too large': MAX_INT + 1,
  '23 digits': 1e22,
  infinite: Infinity,
  'not a number': Number.NaN,
};

describe('a report of an encoder', () => {
  test.each([
    ['processing', 'started'],
    ['ready', 'succeeded'],
    ['failed', 'failed'],
  ] as const)('whose status is %s has %s', (status, event) => {
    expect(stranger({ status })).toMatchObject({ ...HEAD, event });
  });

  test.each([
    undefined,
    null,
    '',
    'Ready',
    'ready ',
    'READY',
    'done',
    'queued',
    'pending_upload',
    'toString',
    '__proto__',
    'constructor',
    1,
    true,
    ['ready'],
    { state: 'ready' },
  ])('whose status is %j is nothing to act on', (status) => {
    expect(stranger({ status })).toBeUndefined();
    expect(ours({ status })).toBeUndefined();
  });

  test('contains only the members of the body', () => {
    expect(stranger({ status: 'processing' })).toEqual({ ...HEAD, event: 'started' });
    expect(stranger({ status: 'failed' })).toEqual({ ...HEAD, event: 'failed' });
    expect(stranger({ status: 'ready' })).toEqual({ ...HEAD, event: 'succeeded', media: {} });
    const nulls = {
      attempt: null,
      progress: null,
      renditions: null,
      playback: null,
      failure: null,
      width: null,
    };
    expect(stranger({ status: 'ready', ...nulls })).toEqual({ ...HEAD, event: 'succeeded', media: {} });
  });

  test.each(Object.entries(NO_COUNT))('whose attempt is %s is nothing to act on', (_, attempt) => {
    expect(stranger({ status: 'ready', attempt })).toBeUndefined();
    expect(ours({ status: 'ready', attempt })).toBeUndefined();
    expect(ours({ status: 'ready', try: attempt })).toBeUndefined();
  });

  test('may name an attempt that leaves room for more', () => {
    expect([1, 2, 1e9, 1e9 + 1].map((attempt) => stranger({ status: 'ready', attempt })?.attempt)).toEqual([
      1,
      2,
      1e9,
      undefined,
    ]);
  });

  test.each([
    [0, 0],
    [100, 100],
    [41.9, 41],
    [-5, 0],
    [1e300, 100],
    [-0, 0],
  ])('with progress %d tells %d', (progress, expected) => {
    expect(stranger({ status: 'processing', progress })?.progress).toBe(expected + 0);
  });

  test.each([...Object.values(OTHER), '50', Infinity, Number.NaN])(
    'with progress %j is nothing to act on',
    (progress) => {
      expect(stranger({ status: 'processing', progress })).toBeUndefined();
    },
  );

  test('parses renditions only if all are valid', () => {
    const good = [
      { height: 720, width: 1280, state: 'ready', bitrate: 2_800_000 },
      { height: 240, state: 'queued', bitrate: null },
    ];
    expect(stranger({ status: 'processing', renditions: good })?.renditions).toEqual(good);
    const bad = [
      ...Object.values(OTHER).filter((value) => !Array.isArray(value)),
      [null],
      [[]],
      [7],
      ['720p'],
      [{}],
      [{ height: 720 }],
      [{ state: 'ready' }],
      [{ height: '720', state: 'ready' }],
      [{ height: 0, state: 'ready' }],
      [{ height: 1.5, state: 'ready' }],
      [{ height: MAX_INT + 1, state: 'ready' }],
      [{ height: 720, state: 'done' }],
      [{ height: 720, state: 'ready', width: 0 }],
      [{ height: 720, state: 'ready', bitrate: '1' }],
      [good[0], {}],
      Array.from({ length: 65 }, () => good[0]),
    ];
    for (const renditions of bad) expect(stranger({ status: 'processing', renditions })).toBeUndefined();
  });

  test('parses a failure to text that can be displayed', () => {
    const failure = (told: unknown) => stranger({ status: 'failed', failure: told })?.failure;
    expect(failure({ code: 'too_long', message: 'Too long', retryable: false })).toEqual({
      code: 'too_long',
      message: 'Too long',
      retryable: false,
    });
    expect(failure({})).toEqual({
      code: 'encode_failed',
      message: 'The video could not be encoded',
      retryable: true,
    });
    expect(failure({ code: 'No Code', message: ' a\r\n\0b ', retryable: 'no' })).toEqual({
      code: 'encode_failed',
      message: 'a b',
      retryable: true,
    });
    expect(failure({ code: 7, message: ['x'] })).toMatchObject({
      code: 'encode_failed',
      message: 'The video could not be encoded',
    });
    expect(failure({ message: '🎬'.repeat(400) })?.message).toHaveLength(500);
    expect(failure({ message: `${'x'.repeat(499)}🎬` })?.message.isWellFormed()).toBe(true);
    for (const none of [null, 'text', 5, true]) expect(failure(none)).toBeUndefined();
    expect(stranger({ status: 'ready', failure: { code: 'x' } })).not.toHaveProperty('failure');
  });

  test('parses width, height and duration only if they are integers, and only for ready', () => {
    expect(stranger({ status: 'ready', width: 640, height: 360, duration_ms: 2000 })?.media).toEqual({
      width: 640,
      height: 360,
      durationMs: 2000,
    });
    for (const value of Object.values(NO_COUNT))
      expect(stranger({ status: 'ready', width: value, height: 360, duration_ms: value })?.media).toEqual({
        height: 360,
      });
    expect(stranger({ status: 'failed', width: 640 })).not.toHaveProperty('media');
  });
});

describe("the URLs of an operator's encoder", () => {
  const hls = 'https://v.example/a.m3u8';

  test('come with ready, byte for byte', () => {
    const playback = { hls, dash: 'http://v.example:8080/ü/%2e%2E/a.mpd?x=1#y', thumbnail: null };
    expect(stranger({ status: 'ready', playback })).toMatchObject({
      playback: { kind: 'urls', urls: playback },
    });
    expect(stranger({ status: 'ready', playback })).not.toHaveProperty('warnings');
  });

  test.each([
    'javascript:alert(1)',
    '//v.example/a',
    'https://user@v.example/',
    '',
    `https://v.example/${'a'.repeat(2048)}`,
  ])('are refused one by one, with one warning: %s', (dash) => {
    expect(stranger({ status: 'ready', playback: { hls, dash, thumbnail: dash } })).toMatchObject({
      event: 'succeeded',
      playback: { urls: { hls, dash: { refused: true }, thumbnail: { refused: true } } },
      warnings: [{ code: 'playback_url_refused' }],
    });
  });

  test('do not come with processing or failed', () => {
    for (const status of ['processing', 'failed'])
      expect(stranger({ status, playback: { hls } })).not.toHaveProperty('playback');
  });

  test('of another type make a body that is nothing to act on', () => {
    for (const playback of [...Object.values(OTHER), hls, 5]) {
      if (JSON.stringify(playback) !== '{}') expect(stranger({ status: 'ready', playback })).toBeUndefined();
    }
    for (const url of [5, true, [], {}, [hls]])
      expect(stranger({ status: 'ready', playback: { thumbnail: url } })).toBeUndefined();
    expect(stranger({ status: 'ready', playback: {} })).toMatchObject({
      playback: { urls: { hls: null, dash: null, thumbnail: null } },
    });
  });
});

describe('a report of our own encoder', () => {
  test('refers to the files of its run and ignores URLs', () => {
    const report: EncoderReport = {
      asset_id: ID,
      status: 'ready',
      attempt: 2,
      try: 3,
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
    const posterOf = (told: unknown) =>
      (ours({ status: 'ready', poster_time_ms: told })?.playback as { posterTimeMs?: number } | undefined)
        ?.posterTimeMs;
    expect([0, 1, 90_000].map(posterOf)).toEqual([0, 1, 90_000]);
    for (const value of [undefined, null, '1', -1, 0.5, MAX_INT + 1, Number.NaN, true, [1]])
      expect(posterOf(value)).toBeUndefined();
    expect(stranger({ status: 'ready', poster_time_ms: 1 })).not.toHaveProperty('playback');
  });

  test('carries warnings for callers; entries of another shape are left out', () => {
    const warning = { code: 'audio_unsupported', message: 'The video plays without sound' };
    const warningsOf = (warnings: unknown) => ours({ status: 'ready', warnings })?.warnings;
    expect(warningsOf([warning])).toEqual([warning]);
    expect(warningsOf([null, 'x', {}, { ...warning, code: 'No Code' }, { code: 'a' }, warning])).toEqual([
      warning,
    ]);
    expect(warningsOf(Array.from({ length: 100 }, () => warning))).toHaveLength(16);
    for (const other of Object.values(OTHER)) expect(warningsOf(other)).toBeUndefined();
    expect(ours({ status: 'failed', warnings: [warning] })).not.toHaveProperty('warnings');
  });

  test('has no files unless it is ready', () => {
    for (const status of ['processing', 'failed']) expect(ours({ status })).not.toHaveProperty('playback');
  });

  test('names attempt and run, or is nothing to act on', () => {
    expect(parseEncoderReport({ asset_id: ID, status: 'ready', try: 1 }, true)).toBeUndefined();
    expect(parseEncoderReport({ asset_id: ID, status: 'ready', attempt: 1 }, true)).toBeUndefined();
    expect(stranger({ status: 'ready', try: 9 })).not.toHaveProperty('playback');
  });
});

test('lists within lists, 20 000 deep, are nothing to act on where a member should be', () => {
  const deep = nested(20_000);
  for (const member of ['status', 'attempt', 'progress', 'renditions', 'playback'])
    expect(stranger({ status: 'ready', [member]: deep })).toBeUndefined();
  expect(stranger({ status: 'failed', failure: deep })?.failure).toMatchObject({ code: 'encode_failed' });
  expect(stranger({ status: 'ready', title: deep })).toBeDefined();
});

test('no JSON makes reading a report throw', () => {
  const members = fc.dictionary(
    fc.constantFrom(
      'status',
      'attempt',
      'try',
      'progress',
      'renditions',
      'playback',
      'failure',
      'width',
      '__proto__',
    ),
    fc.oneof(fc.jsonValue(), fc.constantFrom('ready', 'failed', 1)),
  );
  fc.assert(
    fc.property(members, fc.boolean(), (body, isOurs) => {
      parseEncoderReport(body, isOurs);
    }),
    { numRuns: 2000 },
  );
});
