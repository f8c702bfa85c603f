// Tests what the log says about requests that were not served.
import { afterEach, expect, test } from 'vitest';
import { busy, unavailable } from './errors.ts';
import { createLogger } from '../observability/logger.ts';
import { createServer, type HttpServer } from './server.ts';

let server: HttpServer | undefined;
afterEach(() => server?.close());

/** The line about a request whose handler throws this error. */
async function lineAbout(error: Error): Promise<Record<string, unknown>> {
  const lines: string[] = [];
  const log = createLogger('warn', { write: (line) => void lines.push(line) });
  server = createServer(log, { maxConnections: 10 });
  server.get('/', () => {
    throw error;
  });
  const { statusCode } = await server.inject('/');
  expect(statusCode).toBe(error instanceof RangeError ? 500 : 503);
  return JSON.parse(lines.find((line) => /request (?:unavailable|failed)/.test(line)) ?? '{}');
}

test('a refusal under load is one short line with its reason', async () => {
  const line = await lineAbout(busy());
  expect(line).toMatchObject({ reason: 'busy', refusal: expect.stringContaining('busy') });
  expect(line).not.toHaveProperty('err');
});

test.each([
  ['an unavailable database or store', unavailable('Try again', new Error('connection refused'))],
  ['a fault of the service', new RangeError('out of range')],
])('%s is logged with the stack of its cause', async (_, error) => {
  expect(await lineAbout(error)).toMatchObject({
    err: { message: ((error.cause as Error) ?? error).message, stack: expect.stringContaining('at ') },
  });
});
