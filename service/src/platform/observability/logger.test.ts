// Tests that log lines are bounded and contain no credentials.
import { describe, expect, test } from 'vitest';
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
    expect(JSON.parse(line).err.message).toMatch(/^y{1000}…$/);
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

test('other texts of a line are truncated too', () => {
  const [line = ''] = linesOf((log) => log.warn({ error: 'x'.repeat(300_000), code: 'c' }, 'said'));
  expect(line.length).toBeLessThan(2200);
  expect(JSON.parse(line)).toMatchObject({ error: `${'x'.repeat(2000)}…`, code: 'c', msg: 'said' });
});

test('a line has the time in ISO 8601 and the level as a word', () => {
  const [line = ''] = linesOf((log) => log.warn('said'));
  expect(JSON.parse(line)).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    msg: 'said',
  });
});
