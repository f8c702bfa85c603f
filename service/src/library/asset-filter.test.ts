// The query of a list as a filter of the table (contract B3).
import { expect, test } from 'vitest';
import { firstIdOf } from '../platform/values/uuid.ts';
import { type ListQuery, toAssetFilter } from './asset-filter.ts';

const filterOf = (query: Partial<ListQuery> = {}) =>
  toAssetFilter('ann', { limit: 20, sort: '-created_at', tag_match: 'all', ...query });
const naming = (field: string) =>
  expect.objectContaining({ code: 'BAD_REQUEST', details: expect.objectContaining({ field }) });
const NOON = '2026-01-01T12:00:00Z';
const noonMs = Date.parse(NOON);

test('an empty query filters by owner alone, outside the trash', () => {
  expect(filterOf()).toEqual({ owner: 'ann', isTrash: false });
  expect(toAssetFilter(undefined, { limit: 20, sort: 'created_at', tag_match: 'all' }).owner).toBeUndefined();
});

test('only deleted=true lists the trash', () => {
  expect(
    [true, false, undefined].map(
      (deleted) => filterOf({ ...(deleted !== undefined && { deleted }) }).isTrash,
    ),
  ).toEqual([true, false, false]);
});

test('kind, provider and tags are exact', () => {
  expect(filterOf({ kind: 'video', provider: 'onprem', tag: ['launch', 'berlin'] })).toMatchObject({
    kind: 'video',
    provider: 'onprem',
    tags: ['launch', 'berlin'],
    isAnyTag: false,
  });
  expect(filterOf({ tag: ['launch'], tag_match: 'any' }).isAnyTag).toBe(true);
});

test.each([
  ['spring', ['{"k":"spring"}']],
  ['1042', ['{"k":"1042"}', '{"k":1042}']],
  ['-0.5', ['{"k":"-0.5"}', '{"k":-0.5}']],
  ['true', ['{"k":"true"}', '{"k":true}']],
  ['007', ['{"k":"007"}']],
  ['1e9999', ['{"k":"1e9999"}']],
  ['null', ['{"k":"null"}']],
  ['', ['{"k":""}']],
  ['"}', ['{"k":"\\"}"}']],
])('the text %j of a member of metadata means %j', (text, contained) => {
  expect(filterOf({ metadata: { k: text } }).metadata).toEqual([contained]);
});

test('status is an alias of stream_status', () => {
  expect(filterOf({ status: 'ready' }).streamStatus).toBe('ready');
  expect(filterOf({ stream_status: 'failed' }).streamStatus).toBe('failed');
  expect(filterOf({ status: 'ready', stream_status: 'ready' }).streamStatus).toBe('ready');
});

test('two different values of status are rejected, with the value to send', () => {
  expect(() => filterOf({ status: 'ready', stream_status: 'failed' })).toThrow(
    expect.objectContaining({
      code: 'BAD_REQUEST',
      message: expect.stringMatching(/^status is an alias of stream_status: send one of them/),
      details: { field: 'status', allowed: ['failed'] },
    }),
  );
});

test('q searches for the text itself: wildcards of LIKE have no meaning', () => {
  expect(filterOf({ q: 'spring' }).text).toBe('%spring%');
  expect(filterOf({ q: '50%_\\' }).text).toBe('%50\\%\\_\\\\%');
  expect(filterOf({ q: '' }).text).toBe('%%');
});

test('created_after starts with the next millisecond, created_before ends before its own', () => {
  expect(filterOf({ created_after: NOON, created_before: NOON })).toMatchObject({
    fromId: firstIdOf(noonMs + 1),
    belowId: firstIdOf(noonMs),
  });
});

test('a time between two milliseconds excludes no asset that lies within', () => {
  const between = '2026-01-01T12:00:00.0005Z';
  expect(filterOf({ created_after: between, created_before: '2026-01-01T12:00:00.001Z' })).toMatchObject({
    fromId: firstIdOf(noonMs + 1),
    belowId: firstIdOf(noonMs + 1),
  });
});

test('February 29 exists in leap years', () => {
  expect(filterOf({ created_before: '2028-02-29' }).belowId).toBe(firstIdOf(Date.parse('2028-02-29')));
});

test.each<[string, Partial<ListQuery>]>([
  ['tag', { tag: ['b', 'a\0'] }],
  ['metadata[k]', { metadata: { k: 'a\0' } }],
  ['metadata[a\0]', { metadata: { 'a\0': 'v' } }],
  ['metadata[]', { metadata: { '': 'v' } }],
  ['q', { q: '\ud800' }],
  ['created_after', { created_after: 'yesterday' }],
  ['created_before', { created_before: '2026-01-01T12:00:00' }],
  ['created_before', { created_before: '2026-02-30' }],
  ['created_after', { created_after: '2026-04-31T12:00:00+02:00' }],
  ['created_after', { created_after: '2026-02-29' }],
  ['created_after', { created_after: '2026-02-32' }],
])('an invalid %s is named', (field, query) => {
  expect(() => filterOf(query)).toThrow(naming(field));
});
