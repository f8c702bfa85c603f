// Tests that the error of a job is one sentence, whatever the queue stored.
import { expect, test } from 'vitest';
import { describeJobError } from './job-error.ts';

test.each([
  [null, null],
  [{ value: true }, null],
  [{ value: { message: 'job heartbeat timeout' } }, 'worker_lost'],
  [{ value: { message: 'job timed out' } }, 'timed_out'],
  [{ value: 'no' }, 'error'],
  [{ name: 'AggregateError' }, 'error'],
  [{ message: 'connect ECONNREFUSED', code: 'ECONNREFUSED', stack: 'at x' }, 'ECONNREFUSED'],
  [{ message: 'odd', code: 7 }, 'error'],
])('the code of %j is %s', (output, code) => {
  expect(describeJobError(output)?.code ?? null).toBe(code);
});

test('the message is the first line', () => {
  expect(describeJobError({ message: 'GET failed\n    at x' })?.message).toBe('GET failed');
  expect(describeJobError({ message: '' })?.message).toBe('The run failed without a message.');
});
