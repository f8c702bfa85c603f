// Tests that log lines are bounded, name their process and contain no credentials.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from './logger.ts';

function linesOf(write: (log: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  write(
    createLogger('info', {
      write: (line) => {
        lines.push(line);
      },
    }),
  );
  return lines;
}
const errLine = (err: unknown) => linesOf((log) => log.error({ err }, 'it failed'))[0] as string;

describe('an error in a log line', () => {
  test('keeps its type, message, stack, code and cause', () => {
    const err = Object.assign(new TypeError('outer', { cause: new Error('inner') }), { code: 'E1' });
    expect(JSON.parse(errLine(err)).err).toMatchObject({
      type: 'TypeError',
      message: 'outer',
      stack: expect.stringMatching(/^TypeError: outer\n\s+at /),
      code: 'E1',
      cause: { type: 'Error', message: 'inner' },
    });
  });

  test('may be a copy without a class, as the job queue reports it', () => {
    const { message, stack } = new Error('connection refused');
    const copy = { code: 'ECONNREFUSED', message, stack, queue: 'encode-asset', client: 'planted' };
    expect(JSON.parse(errLine(copy)).err).toMatchObject({ message, code: 'ECONNREFUSED', stack });
    expect(errLine(copy)).not.toContain('planted');
  });

  test('is truncated, for any length of its message and its chain of causes', () => {
    let err = new Error('x'.repeat(1_000_000));
    for (let depth = 0; depth < 50; depth++) err = new Error('y'.repeat(100_000), { cause: err });
    const line = errLine(err);
    expect(line.length).toBeLessThan(40_000);
    expect(JSON.parse(line).err.message).toMatch(/^y{2000}…$/);
    expect(JSON.parse(line).err.stack).toContain('logger.test.ts');
  });

  test('has no other members, and no content of a cause that is not an error', () => {
    const err = Object.assign(new Error('failed', { cause: { password: 'planted' } }), {
      log: 'planted',
      config: { headers: 'planted' },
    });
    expect(errLine(err)).not.toContain('planted');
  });

  test.each([
    'connect postgres://mediary:planted@db.test/mediary failed',
    'GET https://api.test/x?key=planted&b=1 failed',
    'GET http://127.0.0.1/api/v1/playback/1/~planted_planted_planted/hls.m3u8',
    'header Authorization: Bearer planted.planted.planted is wrong',
    'header Basic planted= is wrong',
    'AccessKey=planted',
    'Reply was already sent in "/api/v1/uploads/1?ticket=planted&x=1" (PUT)',
  ])('shows no credentials: %s', (message) => {
    expect(errLine(new Error(message))).not.toContain('planted');
    expect(errLine(new Error('outer', { cause: message }))).not.toContain('planted');
  });
});

test('an error of several attempts to connect has their messages', () => {
  const attempts = ['connect ECONNREFUSED ::1:1', 'connect ECONNREFUSED 127.0.0.1:1'];
  const err = Object.assign(new AggregateError(attempts.map((message) => new Error(message))), {
    code: 'ECONNREFUSED',
  });
  expect(JSON.parse(errLine(err)).err).toMatchObject({ message: attempts.join('; '), code: 'ECONNREFUSED' });
});

describe('equal errors', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const MINUTE_MS = 60_000;
  const refused = (message = 'connect ECONNREFUSED') =>
    Object.assign(new Error(message), { code: 'ECONNREFUSED' });
  const told = (lines: readonly string[]) =>
    lines.map((line) => {
      const { msg, err, left_out } = JSON.parse(line);
      return [msg, err?.code ?? err?.message, left_out];
    });

  test('are one line a minute, with the number of those that were left out', () => {
    const lines = linesOf((log) => {
      for (let time = 0; time < 930; time += 1) log.warn({ err: refused(), time }, 'job queue error');
      vi.advanceTimersByTime(MINUTE_MS);
      for (let time = 0; time < 5; time += 1) log.warn({ err: refused() }, 'job queue error');
      vi.advanceTimersByTime(2 * MINUTE_MS);
      log.warn({ err: refused() }, 'job queue error');
    });
    expect(told(lines)).toEqual([
      ['job queue error', 'ECONNREFUSED', undefined],
      ['job queue error', 'ECONNREFUSED', 928],
      ['job queue error', 'ECONNREFUSED', 4],
      ['job queue error', 'ECONNREFUSED', undefined],
    ]);
    expect(JSON.parse(lines[1] ?? '').time).toBe(929);
  });

  test('have the same text, code and message; other levels are never left out', () => {
    const lines = linesOf((log) => {
      for (const err of [refused(), refused(), refused('read ECONNRESET'), new Error('a'), new Error('b')])
        log.error({ err }, 'it failed');
      log.error({ err: refused() }, 'another failed');
      for (let time = 0; time < 2; time += 1) {
        log.info({ err: refused() }, 'job ended');
        log.fatal({ err: refused() }, 'the service exits');
        log.warn({ refusal: 'busy' }, 'request unavailable');
      }
    });
    expect(told(lines).map(([msg, error]) => `${msg}: ${error}`)).toEqual([
      'it failed: ECONNREFUSED',
      'it failed: ECONNREFUSED',
      'it failed: a',
      'it failed: b',
      'another failed: ECONNREFUSED',
      'job ended: ECONNREFUSED',
      'the service exits: ECONNREFUSED',
      'request unavailable: undefined',
      'job ended: ECONNREFUSED',
      'the service exits: ECONNREFUSED',
      'request unavailable: undefined',
    ]);
  });

  test('are not limited above a number of different ones, which would take memory', () => {
    const lines = linesOf((log) => {
      for (let time = 0; time < 2; time += 1)
        for (let number = 0; number < 1000; number += 1) log.warn({ err: new Error(`${number}`) }, 'odd');
    });
    expect(lines).toHaveLength(2000 - 200);
  });
});

test('other texts of a line are truncated too', () => {
  const [line = ''] = linesOf((log) => log.warn({ error: 'x'.repeat(300_000), code: 'c' }, 'said'));
  expect(line.length).toBeLessThan(2200);
  expect(JSON.parse(line)).toMatchObject({ error: `${'x'.repeat(2000)}…`, code: 'c', msg: 'said' });
});

test('a line has the time in ISO 8601, the level as a word, and the process that wrote it', () => {
  const identity = { instance: 'i1', host: 'media-1', role: 'worker', version: '1.2.3' };
  const lines: string[] = [];
  createLogger('info', { write: (line) => void lines.push(line) }, identity).warn('said');
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    ...identity,
    msg: 'said',
  });
});
