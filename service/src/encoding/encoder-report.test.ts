// Tests how the members of the onprem webhook are parsed, and which bodies are ignored (contract A1, B5, B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEncoderReport } from './encoder-report.ts';

const ID = '11111111-2222-4333-8444-555555555555';
const parseThirdParty = (members: object) => parseEncoderReport({ asset_id: ID, ...members }, false);
const parseOwn = (members: object) =>
  parseEncoderReport({ asset_id: ID, attempt: 1, run: 1, ...members }, true);
const HEAD = { source: 'webhook', provider: 'onprem' };
const MAX_INT = 2 ** 31 - 1;
const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

/** Values of a type that no member has. */
const OTHER_TYPES = { text: 'x', blank: '', list: [], members: {}, true: true, false: false };
const INVALID_COUNTS = {
  ...OTHER_TYPES,
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
    expect(parseThirdParty({ status })).toMatchObject({ ...HEAD, event });
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
  ])('whose status is %j is ignored', (status) => {
    expect(parseThirdParty({ status })).toBeUndefined();
    expect(parseOwn({ status })).toBeUndefined();
  });

  test('contains only the members of the body', () => {
    expect(parseThirdParty({ status: 'processing' })).toEqual({ ...HEAD, event: 'started' });
    expect(parseThirdParty({ status: 'failed' })).toEqual({ ...HEAD, event: 'failed' });
    expect(parseThirdParty({ status: 'ready' })).toEqual({ ...HEAD, event: 'succeeded', media: {} });
    const nulls = {
      attempt: null,
      progress: null,
      renditions: null,
      playback: null,
      failure: null,
      width: null,
    };
    expect(parseThirdParty({ status: 'ready', ...nulls })).toEqual({
      ...HEAD,
      event: 'succeeded',
      media: {},
    });
  });

  test.each(Object.entries(INVALID_COUNTS))('whose attempt is %s is ignored', (_, attempt) => {
    expect(parseThirdParty({ status: 'ready', attempt })).toBeUndefined();
    expect(parseOwn({ status: 'ready', attempt })).toBeUndefined();
    expect(parseOwn({ status: 'ready', run: attempt })).toBeUndefined();
  });

  test('may have any attempt up to a limit', () => {
    expect(
      [1, 2, 1e9, 1e9 + 1].map((attempt) => parseThirdParty({ status: 'ready', attempt })?.attempt),
    ).toEqual([1, 2, 1e9, undefined]);
  });

  test.each([
    [0, 0],
    [100, 100],
    [41.9, 41],
    [-5, 0],
    [1e300, 100],
    [-0, 0],
  ])('with progress %d reports %d', (progress, expected) => {
    expect(parseThirdParty({ status: 'processing', progress })?.progress).toBe(expected + 0);
  });

  test.each([...Object.values(OTHER_TYPES), '50', Infinity, Number.NaN])(
    'with progress %j is ignored',
    (progress) => {
      expect(parseThirdParty({ status: 'processing', progress })).toBeUndefined();
    },
  );

  test('parses renditions only if all are valid', () => {
    const good = [
      { height: 720, width: 1280, state: 'ready', bitrate: 2_800_000 },
      { height: 240, state: 'queued', bitrate: null },
    ];
    expect(parseThirdParty({ status: 'processing', renditions: good })?.renditions).toEqual(good);
    const bad = [
      ...Object.values(OTHER_TYPES).filter((value) => !Array.isArray(value)),
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
    for (const renditions of bad)
      expect(parseThirdParty({ status: 'processing', renditions })).toBeUndefined();
  });

  test('parses a failure to text that can be displayed', () => {
    const failure = (value: unknown) => parseThirdParty({ status: 'failed', failure: value })?.failure;
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
    expect(parseThirdParty({ status: 'ready', failure: { code: 'x' } })).not.toHaveProperty('failure');
  });

  test('parses width, height and duration only if they are integers, and only for ready', () => {
    expect(parseThirdParty({ status: 'ready', width: 640, height: 360, duration_ms: 2000 })?.media).toEqual({
      width: 640,
      height: 360,
      durationMs: 2000,
    });
    for (const value of Object.values(INVALID_COUNTS))
      expect(
        parseThirdParty({ status: 'ready', width: value, height: 360, duration_ms: value })?.media,
      ).toEqual({
        height: 360,
      });
    expect(parseThirdParty({ status: 'failed', width: 640 })).not.toHaveProperty('media');
  });
});

test('arrays nested 20 000 levels deep are ignored as a member', () => {
  const deep = nested(20_000);
  for (const member of ['status', 'attempt', 'progress', 'renditions', 'playback'])
    expect(parseThirdParty({ status: 'ready', [member]: deep })).toBeUndefined();
  expect(parseThirdParty({ status: 'failed', failure: deep })?.failure).toMatchObject({
    code: 'encode_failed',
  });
  expect(parseThirdParty({ status: 'ready', title: deep })).toBeDefined();
});

test('no JSON makes the parser throw', () => {
  const members = fc.dictionary(
    fc.constantFrom(
      'status',
      'attempt',
      'run',
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
    fc.property(members, fc.boolean(), (body, isOwn) => {
      parseEncoderReport(body, isOwn);
    }),
    { numRuns: 2000 },
  );
});
