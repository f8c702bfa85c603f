// Tests that settings are parsed from text and every problem names its setting (contract B9).
import { describe, expect, test } from 'vitest';
import { createSettings, readLimit, readRate, readTrustProxy } from './settings.ts';

const of = (value: string | undefined) => createSettings({ IT: value });
const RANGE = { fallback: 7, min: 1, max: 10 };

/** What a reader gives back, and what it complains of. */
function reading<T>(value: string | undefined, read: (settings: ReturnType<typeof of>) => T) {
  const settings = of(value);
  return { value: read(settings), problems: settings.problems };
}

test.each([
  [undefined, undefined],
  ['', undefined],
  ['  ', undefined],
  [' a b ', 'a b'],
])('text: unset, empty and blank are the same (%j)', (given, value) => {
  expect(reading(given, ({ text }) => text('IT'))).toEqual({ value, problems: [] });
});

describe('whole numbers', () => {
  test.each([
    [undefined, 7],
    ['', 7],
    ['1', 1],
    [' 10 ', 10],
    ['1e1', 10],
  ])('%j is %d', (given, value) => {
    expect(reading(given, ({ integer }) => integer('IT', RANGE))).toEqual({ value, problems: [] });
  });

  test.each(['0', '11', '1.5', 'ten', '1,000', 'NaN', 'Infinity', '-1', '5 MB'])(
    '%j is not an integer within the range, so the fallback is used',
    (given) => {
      expect(reading(given, ({ integer }) => integer('IT', RANGE))).toEqual({
        value: 7,
        problems: ['IT must be a whole number from 1 to 10'],
      });
    },
  );
});

test('an enumerated value must match exactly', () => {
  const read = (given: string | undefined) =>
    reading(given, ({ oneOf }) => oneOf('IT', ['all', 'api'], 'all'));
  expect(read(undefined)).toEqual({ value: 'all', problems: [] });
  expect(read('api')).toEqual({ value: 'api', problems: [] });
  for (const given of ['API', 'worker', 'all,api'])
    expect(read(given)).toEqual({ value: 'all', problems: ['IT must be one of all, api'] });
});

test.each([
  [undefined, []],
  ['', []],
  [',', []],
  ['a', ['a']],
  [' a , b,,a ', ['a', 'b', 'a']],
])('lists: %j', (given, value) => {
  expect(reading(given, ({ list }) => list('IT'))).toEqual({ value, problems: [] });
});

test('a rotating secret lists the current and the previous value', () => {
  const read = (environment: Record<string, string>) => createSettings(environment).rotating('IT');
  expect(read({})).toEqual([]);
  expect(read({ IT: 'new', IT_PREVIOUS: 'old' })).toEqual(['new', 'old']);
  expect(read({ IT: 'new', IT_PREVIOUS: ' ' })).toEqual(['new']);
});

describe('URLs', () => {
  test.each([
    [undefined, undefined],
    ['http://a', 'http://a'],
    ['https://a.test:8443/base/', 'https://a.test:8443/base'],
    ['http://[::1]:1//', 'http://[::1]:1'],
  ])('%j', (given, value) => {
    expect(reading(given, ({ url }) => url('IT'))).toEqual({ value, problems: [] });
  });

  test.each([
    'a.test',
    'ftp://a',
    'https://',
    'https:///a',
    '//a',
    'http://a b',
    'https://a.test?x=1',
    'https://a.test/#x',
    'https://user:word@a.test',
  ])('%j is none', (given) => {
    expect(reading(given, ({ url }) => url('IT')).problems).toEqual([
      'IT must be an http or https URL without query or user name',
    ]);
  });
});

test('problems of several settings are all reported', () => {
  const settings = createSettings({ A: 'x', B: 'y', C: 'z' });
  settings.integer('A', RANGE);
  settings.oneOf('B', ['b'], 'b');
  settings.url('C');
  expect(settings.problems).toHaveLength(3);
});

test('the names of the settings that were read are known', () => {
  const settings = createSettings({ UNREAD: '1' });
  settings.text('A');
  settings.rotating('B');
  expect([...settings.names]).toEqual(['A', 'B', 'B_PREVIOUS']);
});

describe('rate limits', () => {
  test.each([
    [undefined, undefined],
    ['100/10s', { limit: 100, windowSeconds: 10 }],
    ['1000/m', { limit: 1000, windowSeconds: 60 }],
    ['9999999/2h', { limit: 9_999_999, windowSeconds: 7200 }],
    ['1/1s', { limit: 1, windowSeconds: 1 }],
    ['1/24h', { limit: 1, windowSeconds: 86_400 }],
  ])('%j is %j', (given, value) => {
    expect(reading(given, (settings) => readRate(settings, 'IT'))).toEqual({ value, problems: [] });
  });

  test.each([
    '0/s',
    '1/0s',
    '1/25h',
    '1/86401s',
    '10',
    '10/',
    '10/d',
    '10/s.',
    'x10/s',
    '1.5/s',
    '10000000/s',
  ])('%j is no rate', (given) => {
    expect(reading(given, (settings) => readRate(settings, 'IT'))).toEqual({
      value: undefined,
      problems: ['IT must be a number of requests per time of at most 24h, such as 100/10s or 1000/m'],
    });
  });
});

test('a limit is unlimited when unset, otherwise at least 1', () => {
  const read = (given: string | undefined) => reading(given, (settings) => readLimit(settings, 'IT'));
  expect(read(undefined)).toEqual({ value: undefined, problems: [] });
  expect(read('1')).toEqual({ value: 1, problems: [] });
  expect(read('5000')).toEqual({ value: 5000, problems: [] });
  expect(read('0')).toEqual({ value: 1, problems: [expect.stringMatching(/^IT must be .* from 1 to /)] });
});

describe('trusted proxies', () => {
  const read = (given: string | undefined) => {
    const settings = createSettings({ TRUST_PROXY: given });
    return { value: readTrustProxy(settings), problems: settings.problems };
  };

  test.each([
    [undefined, undefined],
    ['loopback, linklocal,uniquelocal', ['loopback', 'linklocal', 'uniquelocal']],
    ['10.0.0.1,::1', ['10.0.0.1', '::1']],
    ['10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['10.0.0.1/32,fd00::1/128', ['10.0.0.1/32', 'fd00::1/128']],
  ])('%j are %j', (given, value) => expect(read(given)).toEqual({ value, problems: [] }));

  test.each([
    ',',
    '1',
    'true',
    'proxy.example',
    'loopback,nearby',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '10.0.0.0/x8',
    '10.0.0.0/8x',
    '10.0.0.0/0008',
  ])('%j names no network', (given) => {
    expect(read(given)).toEqual({
      value: undefined,
      problems: [
        'TRUST_PROXY must list the addresses or networks of your proxies, such as 10.0.0.0/8, or loopback, linklocal, uniquelocal',
      ],
    });
  });
});
