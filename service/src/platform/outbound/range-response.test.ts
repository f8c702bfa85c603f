// Tests when a download can be continued, and which responses continue it.
import { describe, expect, test } from 'vitest';
import { toContinuation, toValidator } from './range-response.ts';

const DATE = 'Sun, 22 Nov 2026 07:00:00 GMT';
const OLD = 'Sun, 22 Nov 2026 06:59:00 GMT';
const NEW = 'Sun, 22 Nov 2026 06:59:01 GMT';

describe('the validator', () => {
  test.each<[Record<string, string>, string | undefined]>([
    [{ etag: '"abc"' }, '"abc"'],
    [{ etag: '"abc"', 'last-modified': OLD, date: DATE, 'accept-ranges': 'bytes' }, '"abc"'],
    [{ 'last-modified': OLD, date: DATE }, OLD],
    [{}, undefined],
    [{ etag: 'W/"abc"' }, undefined],
    [{ etag: 'W/"abc"', 'last-modified': OLD, date: DATE }, undefined],
    [{ etag: 'abc' }, undefined],
    [{ etag: '"a", "b"' }, undefined],
    [{ etag: '"abc"', 'accept-ranges': 'none' }, undefined],
    [{ 'last-modified': NEW, date: DATE }, undefined],
    [{ 'last-modified': OLD }, undefined],
    [{ 'last-modified': 'yesterday', date: DATE }, undefined],
  ])('of %j is %j', (headers, expected) => expect(toValidator(new Headers(headers))).toBe(expected));
});

describe('a response', () => {
  const point = { offset: 100, validator: '"v1"', totalBytes: 1000 };
  const good = { 'content-range': 'bytes 100-999/1000', 'content-length': '900', etag: '"v1"' };
  const continuation = (headers: Record<string, string>, changed: object = {}) =>
    toContinuation({ status: 206, headers: new Headers(headers) }, { ...point, ...changed });

  test('continues to the end, or to an earlier offset', () => {
    expect(continuation(good)).toEqual({ partBytes: 900, totalBytes: 1000 });
    expect(continuation({ 'content-range': 'bytes 100-100/1000', etag: '"v1"' })).toEqual({
      partBytes: 1,
      totalBytes: 1000,
    });
    expect(continuation({ ...good, 'content-range': 'BYTES 100-999/*' })).toMatchObject({ totalBytes: 1000 });
    expect(continuation(good, { totalBytes: undefined })).toMatchObject({ totalBytes: 1000 });
    expect(continuation({ ...good, etag: '', 'last-modified': OLD }, { validator: OLD })).toBeDefined();
  });

  test.each<[string, Record<string, string>]>([
    ['another ETag', { etag: '"v2"' }],
    ['the ETag as a weak one', { etag: 'W/"v1"' }],
    ['no ETag', { etag: '' }],
    ['an earlier start', { 'content-range': 'bytes 99-998/1000' }],
    ['a later start', { 'content-range': 'bytes 101-1000/1000' }],
    ['another total', { 'content-range': 'bytes 100-999/1001' }],
    ['an end after the total', { 'content-range': 'bytes 100-1000/1000' }],
    ['an end before the start', { 'content-range': 'bytes 100-99/1000', 'content-length': '0' }],
    ['another length', { 'content-length': '899' }],
    ['another unit', { 'content-range': 'items 100-999/1000' }],
    ['no range', { 'content-range': '' }],
    ['a huge number', { 'content-range': `bytes 100-999/${'9'.repeat(400)}` }],
  ])('with %s does not continue', (_what, changed) => {
    expect(continuation({ ...good, ...changed })).toBeUndefined();
  });

  test('with another status, or with no total at all, does not continue', () => {
    expect(toContinuation({ status: 200, headers: new Headers(good) }, point)).toBeUndefined();
    expect(
      continuation({ ...good, 'content-range': 'bytes 100-999/*' }, { totalBytes: undefined }),
    ).toBeUndefined();
  });
});
