// Tests that settings are parsed from text and every problem names its setting (contract B9).
import { describe, expect, test } from 'vitest';
import { HTTP_SETTINGS } from '../http/settings.ts';
import { createSettings, namesOf } from './read-settings.ts';
import {
  choice,
  integer,
  list,
  optionalInteger,
  optionalText,
  rate,
  type Setting,
  text,
  url,
} from './setting.ts';

const ABOUT = 'A setting of tests.';
const RANGE = { fallback: 7, min: 1, max: 10 };

/** What a setting of this name has as its value, and what is reported about it. */
function read<T>(given: string | undefined, setting: Setting<T>) {
  const settings = createSettings({ IT: given });
  const { value } = settings.read({ title: 'Tests', settings: { value: setting } });
  return { value, problems: settings.problems };
}

test.each([
  [undefined, undefined],
  ['', undefined],
  ['  ', undefined],
  [' a b ', 'a b'],
])('text: unset, empty and blank are the same (%j)', (given, value) => {
  expect(read(given, optionalText('IT', ABOUT, 'none'))).toEqual({ value, problems: [] });
});

describe('whole numbers', () => {
  test.each([
    [undefined, 7],
    ['', 7],
    ['1', 1],
    [' 10 ', 10],
    ['1e1', 10],
  ])('%j is %d', (given, value) => {
    expect(read(given, integer('IT', ABOUT, RANGE))).toEqual({ value, problems: [] });
  });

  test.each(['0', '11', '1.5', 'ten', '1,000', 'NaN', 'Infinity', '-1', '5 MB'])(
    '%j is not an integer within the range, so the fallback is used',
    (given) => {
      expect(read(given, integer('IT', ABOUT, RANGE))).toEqual({
        value: 7,
        problems: ['IT must be a whole number from 1 to 10'],
      });
    },
  );
});

test('an enumerated value must match exactly', () => {
  const it = choice('IT', ABOUT, { choices: ['all', 'api'], fallback: 'all' });
  expect(read(undefined, it)).toEqual({ value: 'all', problems: [] });
  expect(read('api', it)).toEqual({ value: 'api', problems: [] });
  for (const given of ['API', 'worker', 'all,api'])
    expect(read(given, it)).toEqual({ value: 'all', problems: ['IT must be one of all, api'] });
});

test.each([
  [undefined, []],
  ['', []],
  [',', []],
  ['a', ['a']],
  [' a , b,,a ', ['a', 'b', 'a']],
])('lists: %j', (given, value) => {
  expect(read(given, list('IT', ABOUT, { byDefault: 'none', parse: (items) => items }))).toEqual({
    value,
    problems: [],
  });
});

test('a rotated setting has a current and a previous value', () => {
  const it: Setting<unknown> = {
    ...optionalText('IT', ABOUT, 'none'),
    isRotated: true,
    parse: ({ given, previous }) => [given, previous],
  };
  const group = { title: 'Tests', settings: { it } };
  const of = (environment: Record<string, string>) => createSettings(environment).read(group).it;
  expect(of({})).toEqual([undefined, undefined]);
  expect(of({ IT: 'new', IT_PREVIOUS: 'old' })).toEqual(['new', 'old']);
  expect(of({ IT: 'new', IT_PREVIOUS: ' ' })).toEqual(['new', undefined]);
});

describe('URLs', () => {
  test.each([
    [undefined, undefined],
    ['http://a', 'http://a'],
    ['https://a.test:8443/base/', 'https://a.test:8443/base'],
    ['http://[::1]:1//', 'http://[::1]:1'],
  ])('%j', (given, value) => {
    expect(read(given, url('IT', ABOUT, 'none'))).toEqual({ value, problems: [] });
  });

  test.each([
    'a.test',
    'ftp://a',
    'xhttp://a',
    'https://',
    'https:///a',
    '//a',
    'http://a b',
    'https://a.test?x=1',
    'https://a.test/#x',
    'https://user:word@a.test',
  ])('%j is none', (given) => {
    expect(read(given, url('IT', ABOUT, 'none')).problems).toEqual([
      'IT must be an http or https URL without query or user name',
    ]);
  });
});

test('a tree is read into values of its shape, and all problems are reported', () => {
  const settings = createSettings({ A: 'x', B: 'y', C: 'http://c' });
  const values = settings.read({
    title: 'Tests',
    settings: {
      a: integer('A', ABOUT, RANGE),
      inner: { b: choice('B', ABOUT, { choices: ['b'], fallback: 'b' }), c: url('C', ABOUT, 'none') },
      seconds: integer('D', ABOUT, { ...RANGE, scale: 1000 }),
    },
  });
  expect(values).toEqual({ a: 7, inner: { b: 'b', c: 'http://c' }, seconds: 7000 });
  expect(settings.problems).toHaveLength(2);
});

test('the names of the settings that were read are known, those of previous values too', () => {
  const settings = createSettings({ UNREAD: '1' });
  settings.read({ title: 'One', settings: { a: text('A', ABOUT, '') } });
  settings.read({
    title: 'Two',
    settings: { inner: { b: { ...text('B', ABOUT, ''), isRotated: true as const } } },
  });
  expect([...namesOf(settings.groups)]).toEqual(['A', 'B', 'B_PREVIOUS']);
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
    expect(read(given, rate('IT', ABOUT))).toEqual({ value, problems: [] });
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
    expect(read(given, rate('IT', ABOUT))).toEqual({
      value: undefined,
      problems: ['IT must be a number of requests per time of at most 24h, such as 100/10s or 1000/m'],
    });
  });
});

test('a limit is unlimited when unset, otherwise at least 1', () => {
  const it = optionalInteger('IT', ABOUT, { byDefault: 'no limit', min: 1, max: Number.MAX_SAFE_INTEGER });
  expect(read(undefined, it)).toEqual({ value: undefined, problems: [] });
  expect(read('1', it)).toEqual({ value: 1, problems: [] });
  expect(read('5000', it)).toEqual({ value: 5000, problems: [] });
  expect(read('0', it)).toEqual({ value: 1, problems: [expect.stringMatching(/^IT must be .* from 1 to /)] });
});

describe('trusted proxies', () => {
  const readProxies = (given: string | undefined) => {
    const settings = createSettings({ TRUST_PROXY: given });
    return { value: settings.read(HTTP_SETTINGS).trustProxy, problems: settings.problems };
  };

  test.each([
    [undefined, undefined],
    ['loopback, linklocal,uniquelocal', ['loopback', 'linklocal', 'uniquelocal']],
    ['10.0.0.1,::1', ['10.0.0.1', '::1']],
    ['10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['10.0.0.1/32,fd00::1/128', ['10.0.0.1/32', 'fd00::1/128']],
  ])('%j are %j', (given, value) => expect(readProxies(given)).toEqual({ value, problems: [] }));

  test.each(['0.0.0.0/0', '::/0', '10.0.0.0/00'])('%j trusts every client', (given) => {
    expect(readProxies(`loopback,${given}`)).toEqual({
      value: undefined,
      problems: [
        `TRUST_PROXY: ${given} would trust the X-Forwarded-For of every client. ` +
          'List the networks of your proxies, such as 10.0.0.0/8, or uniquelocal for all private ones',
      ],
    });
  });

  test.each([
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
    expect(readProxies(given)).toEqual({
      value: undefined,
      problems: [
        'TRUST_PROXY must list the addresses or networks of your proxies, such as 10.0.0.0/8, ' +
          'or loopback, linklocal, uniquelocal',
      ],
    });
  });
});
