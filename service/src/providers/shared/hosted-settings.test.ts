// Tests the common settings and response parsers of hosted providers.
import { expect, test } from 'vitest';
import { createSettings } from '../../platform/settings/read-settings.ts';
import { parsePercent, toPathSegment, parseSize, parseTime } from './response-parsers.ts';
import { host, listMissing, originOf } from './hosted-settings.ts';

/** Reads HOST_SETTING. */
function readHost(given: string) {
  const settings = createSettings({ HOST_SETTING: given });
  const group = { title: 'Tests', settings: { value: host('HOST_SETTING', 'A host.') } };
  return { value: settings.read(group).value, problems: settings.problems };
}

test.each([
  ['vz-1.b-cdn.net', 'https://vz-1.b-cdn.net'],
  ['vz-1.b-cdn.net:8443', 'https://vz-1.b-cdn.net:8443'],
  ['http://127.0.0.1:9001/', 'http://127.0.0.1:9001'],
  ['https://proxy.example/cdn//', 'https://proxy.example/cdn'],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ['proxy.example/http://origin', 'https://proxy.example/http://origin'],
])('the host %s begins %s', (given, origin) => {
  const { value, problems } = readHost(given);
  expect(originOf(value ?? '')).toBe(origin);
  expect(problems).toEqual([]);
});

test.each([
  'two words',
  'user@host',
  'host?query',
  'host#part',
  'https://',
  '//host',
  'http://[',
  'ftp://host',
])('%j is not a host', (given) => {
  expect(readHost(given).problems).toEqual(['HOST_SETTING must be a host name, or an http or https URL']);
});

test('missing settings are named', () => {
  expect(listMissing({ A: undefined, B: [], C: '', D: ['x'], E: 'x', F: true })).toEqual(['A', 'B']);
});

test.each([
  ['2026-01-01T10:00:00.5', '2026-01-01T10:00:00.500Z'],
  ['2026-01-01T10:00:00Z', '2026-01-01T10:00:00.000Z'],
  ['2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.000Z'],
  ['2026-01-01T10:00:00.123456Z', '2026-01-01T10:00:00.123Z'],
])('the time %s is %s', (text, iso) => {
  expect(parseTime(text).toISOString()).toBe(iso);
});

test.each([undefined, null, '', 'yesterday', 7, {}])('%j is not a time', (text) => {
  expect(() => parseTime(text)).toThrow(expect.objectContaining({ providerCode: 'unreadable time' }));
});

test('a percentage is an integer from 0 to 100, or undefined', () => {
  expect(
    [0, 99.9, 101, -1, '50.5%', Number.NaN, Number.POSITIVE_INFINITY, 'x', null].map(parsePercent),
  ).toEqual([0, 99, 100, 0, 50, undefined, undefined, undefined, undefined]);
});

test('a size has valid sides', () => {
  expect(
    [{ width: 1, height: 2 }, { width: -1, height: 0 }, { width: 1.5, height: '2' }, { width: 1e6 }, {}].map(
      parseSize,
    ),
  ).toEqual([{ width: 1, height: 2 }, {}, {}, {}, {}]);
});

test('an id that would change the path is rejected', () => {
  expect(['a/b', 'a?b', '...', '%2e'].map(toPathSegment)).toEqual(['a%2Fb', 'a%3Fb', '...', '%252e']);
  for (const id of ['', '.', '..'])
    expect(() => toPathSegment(id)).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ code: 'provider_video_missing' }) }),
    );
});
