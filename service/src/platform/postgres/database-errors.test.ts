// Tests the classification of database errors: unavailable, unique violation, or defect.
import { describe, expect, test } from 'vitest';
import { notFound } from '../http/errors.ts';
import { throwUnavailable, findViolatedConstraint } from './database-errors.ts';

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error('words of the server'), { code, ...more });
const rethrown = (error: unknown): unknown => {
  try {
    return throwUnavailable(error);
  } catch (thrown) {
    return thrown; // What is thrown is what is asked about.
  }
};

describe('the database is not available', () => {
  test.each([
    ['08006', 'connection failure'],
    ['57P01', 'shut down by its administrator'],
    ['57P03', 'starting'],
    ['57014', 'a statement over its time'],
    ['53300', 'too many connections'],
    ['25006', 'a standby'],
    ['25P03', 'a transaction of a frozen process'],
    ['25P04', 'a transaction that took too long'],
    ['55P03', 'a lock that was not to be had'],
    ['40P01', 'a deadlock'],
    ['40001', 'a lost race of transactions'],
    ['ECONNREFUSED', 'nobody listens'],
    ['ENOENT', 'no socket'],
    ['ECONNRESET', 'the line broke'],
    ['ENOTFOUND', 'no such host'],
  ])('when it says %s: %s', (code) => {
    const cause = coded(code);
    expect(rethrown(cause)).toMatchObject({
      name: 'Error',
      code: 'UNAVAILABLE',
      message: 'The database is not available',
      cause,
    });
  });

  test('when its disk is full, with this reason', () => {
    const cause = coded('53100');
    expect(rethrown(cause)).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('disk of the database is full'),
      details: { reason: 'disk_full' },
      cause,
    });
  });

  test.each([
    'Query read timeout',
    'timeout exceeded when trying to connect',
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
  ])('when the client says: %s', (words) => {
    expect(rethrown(new Error(words))).toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('other errors are unchanged', () => {
  test.each([
    coded('42601'),
    coded('22P02'),
    coded('23505'),
    coded('42P01'),
    coded('42601', { message: 'syntax error at or near "timeout"' }),
    new TypeError('not a function'),
    notFound('No timeout here'),
    'a string',
    undefined,
  ])('%s', (error) => {
    expect(rethrown(error)).toBe(error);
  });
});

describe('a unique violation', () => {
  test('is identified by the name of the constraint', () => {
    expect(findViolatedConstraint(coded('23505', { constraint: 'note_pkey' }))).toBe('note_pkey');
  });
  test.each([
    coded('23503', { constraint: 'other' }),
    coded('23505'),
    new Error('23505'),
    { code: '23505', constraint: 'x' },
    undefined,
  ])('is not seen in %s', (error) => {
    expect(findViolatedConstraint(error)).toBe(undefined);
  });
});
