// Log lines of the service, as `mediary dev` shows them.
import { expect, test } from 'vitest';
import { formatFacts, parseLine } from './service-process.ts';

test('a line has its message, and the facts that are not the same in every line', () => {
  const facts = { ms: 4, file: 'a b' };
  const line = { level: 'info', time: '2030-01-31T12:00:00Z', host: 'vm', msg: 'job ended', ...facts };
  const parsed = parseLine(JSON.stringify(line));
  expect(parsed).toEqual({ level: 'info', text: 'job ended', facts });
  expect(formatFacts(parsed.facts)).toBe('ms=4 file="a b"');
});

test('a warning shows the reason, an error its stack', () => {
  const err = { message: 'refused', stack: 'Error: refused\n    at call' };
  expect(parseLine(JSON.stringify({ level: 'warn', msg: 'retried', err })).text).toBe('retried\n  refused');
  expect(parseLine(JSON.stringify({ level: 'error', msg: 'failed', err })).text).toBe(
    'failed\n  Error: refused\n      at call',
  );
});

test.each([
  ['  Simulated providers: cdnhost', 'Simulated providers: cdnhost'],
  ['{ no JSON', '{ no JSON'],
  ['\u001b[2Jcleared', '�[2Jcleared'],
])('text that is no log line cannot move the cursor: %j', (text, shown) => {
  expect(parseLine(text)).toEqual({ level: 'info', text: shown, facts: {} });
});
