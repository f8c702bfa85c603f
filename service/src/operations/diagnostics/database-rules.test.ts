// What the database says about itself.
import { expect, test } from 'vitest';
import {
  judgeClock,
  judgeConnections,
  judgeDeadRows,
  judgeMigrations,
  judgePartitions,
  judgeQueue,
  judgeStatements,
  judgeTransactions,
  judgeVersion,
} from './database-rules.ts';

test('PostgreSQL 15 is the oldest', () => {
  expect(judgeVersion(150_004)).toMatchObject({ status: 'ok', details: { version: '15.4' } });
  expect(judgeVersion(140_011)).toMatchObject({ status: 'problem', fix: expect.stringContaining('Upgrade') });
});

test('applied migrations are those of this release', () => {
  expect(judgeMigrations({ applied: [1, 2], known: [1, 2] }).status).toBe('ok');
  expect(judgeMigrations({ applied: [1], known: [1, 2] }).message).toContain('missing: 2');
  expect(judgeMigrations({ applied: [1, 2, 3], known: [1, 2] }).message).toContain('newer release: 3');
});

test.each([
  [900, 0, 'ok'],
  [-1500, 0, 'warning'],
  [1500, 600, 'ok'],
  [61_000, 500, 'problem'],
])('a clock that is %i ms away, known up to %i ms, is %s', (skewMs, errorMs, status) => {
  const finding = judgeClock('clock.database', { other: 'the database', skewMs, errorMs });
  expect(finding.status).toBe(status);
  if (status !== 'ok') expect(finding.message).toContain(skewMs > 0 ? 'ahead of' : 'behind');
});

test('one more process needs connections', () => {
  expect(judgeConnections({ max: 100, reserved: 3, used: 40 }).status).toBe('ok');
  expect(judgeConnections({ max: 100, reserved: 3, used: 90 }).status).toBe('warning');
  expect(judgeConnections({ max: 100, reserved: 3, used: 97 })).toMatchObject({
    status: 'problem',
    fix: expect.stringContaining('max_connections'),
  });
});

test('long transactions, slow statements and dead rows are warnings that name them', () => {
  expect(judgeTransactions([]).status).toBe('ok');
  expect(judgeTransactions([{ pid: 7, state: 'idle in transaction', seconds: 90 }])).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('delay event streams, outbound webhooks'),
    fix: expect.stringContaining('pg_terminate_backend(7)'),
  });
  expect(judgeStatements([]).status).toBe('ok');
  expect(judgeStatements([{ query_id: '1', calls: 9, mean_ms: 200 }]).status).toBe('warning');
  expect(judgeDeadRows([]).status).toBe('ok');
  expect(judgeDeadRows([{ table: 'assets', live: 1, dead: 200_000 }])).toMatchObject({
    status: 'warning',
    fix: expect.stringContaining('vacuum (analyze) assets'),
  });
});

test('a missing partition of this month is worse than one of the next', () => {
  expect(judgePartitions([]).status).toBe('ok');
  expect(judgePartitions([{ name: 'events_2031_02', is_current: false }]).status).toBe('warning');
  expect(judgePartitions([{ name: 'events_2031_01', is_current: true }]).status).toBe('problem');
});

test('jobs that wait or failed are warnings', () => {
  const queue = { name: 'encode-asset', waiting: 3, running: 1, failed: 0, oldest_s: 20 };
  expect(judgeQueue([queue]).status).toBe('ok');
  expect(judgeQueue([{ ...queue, oldest_s: 3600 }]).fix).toContain('more workers');
  expect(judgeQueue([{ ...queue, failed: 1 }])).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('encode-asset'),
  });
});
