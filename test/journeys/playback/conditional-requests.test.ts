// Every route answers HEAD and conditional headers without an error of the service, and another method with
// the methods that it has (contract A3, B2).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../../packages/contract/src/operations.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { openUpload } from '../../support/media.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', LOG_LEVEL: 'silent' });
  id = (await openUpload(service, 'ann', { visibility: 'public' })).asset_id;
});
afterAll(() => service?.stop());

const READS = OPERATIONS.filter(({ method }) => method === 'GET').map(({ path }) => path);
const PATHS: readonly string[] = [
  ...new Set([...READS, '/', '/docs', '/docs/', '/docs/js/scalar.js']),
].concat('/api/v1/openapi.json', '/api/v1/nothing');

const TAGS = ['*', '"x"', 'W/"x"', '"x", *', '', 'x'];
const TIMES = ['Tue, 24 Nov 2026 10:00:00 GMT', 'never', ''];
const HEADERS: Readonly<Record<string, readonly string[]>> = {
  'if-none-match': TAGS,
  'if-match': TAGS,
  'if-range': [...TAGS, ...TIMES],
  'if-modified-since': TIMES,
  'if-unmodified-since': TIMES,
  range: ['bytes=0-0', 'bytes=-1', 'bytes=9-1', 'lines=1-2', ''],
  'accept-encoding': ['br', 'gzip', 'identity;q=0'],
};
const CALLERS = [{}, asUser('ann'), asService, asOperator];

const fill = (path: string): string =>
  path
    .replace('{id}', id)
    .replace(/\{owner_user_id\}/, 'ann')
    .replace(/\{\w+\}|\*/g, 'x');

async function statusOf(method: string, path: string, headers: Record<string, string>): Promise<number> {
  const controller = new AbortController();
  const url = `${service.address}${fill(path)}`;
  const { status } = await fetch(url, { method, headers, redirect: 'manual', signal: controller.signal });
  // Streams have no end.
  controller.abort();
  return status;
}

describe.each(['HEAD', 'GET'])('%s', (method) => {
  test('of any route with one conditional header is no error of the service', async () => {
    for (const path of PATHS)
      for (const [name, values] of Object.entries(HEADERS)) {
        const [value = ''] = values;
        const status = await statusOf(method, path, { ...asUser('ann'), [name]: value });
        expect.soft(status, `${path} ${name}: ${value}`).toBeLessThan(500);
      }
  });

  test('of any route with any of these headers is no error of the service', async () => {
    const headers = fc.record(
      Object.fromEntries(Object.entries(HEADERS).map(([name, values]) => [name, fc.constantFrom(...values)])),
      { requiredKeys: [] },
    );
    const request = fc.tuple(fc.constantFrom(...PATHS), fc.constantFrom(...CALLERS), headers);
    await fc.assert(
      fc.asyncProperty(request, async ([path, caller, conditions]) => {
        const given = { ...caller, ...(conditions as Record<string, string>) };
        expect(await statusOf(method, path, given)).toBeLessThan(500);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a method that a path does not have', () => {
  test.each([
    ['PUT', '/media/upload-url', 'DELETE, GET, HEAD, PATCH, POST'],
    ['PUT', '/media', 'GET, HEAD'],
    ['DELETE', '/media/x/timeline', 'GET, HEAD'],
  ])('%s %s is not found, and the methods are named', async (method, path, allow) => {
    const response = await call(service, `${method} ${path}`, { headers: asUser('ann') });
    const { details } = expectRefusal(response, 404);
    expect(response.headers.get('allow')).toBe(allow);
    expect(details).toEqual({ allowed: allow.split(', ') });
    expect(response.body.message).toBe(`This path has no method ${method}. Allowed: ${allow}.`);
  });

  test('a path that does not exist has no methods', async () => {
    const response = await call(service, 'POST /nothing', { headers: asUser('ann') });
    expect(expectRefusal(response, 404).details).toBeNull();
    expect(response.headers.get('allow')).toBeNull();
  });
});
