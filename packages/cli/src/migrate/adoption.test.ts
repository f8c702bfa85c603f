// Tests that a run in place outlives lost connections and a service that is not ready.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { EXAMPLE_ASSET } from '@mediary/contract/schemas/assets/asset';
import { runInProcess, serve } from '../program.fixture.ts';

type Adopt = (request: IncomingMessage, response: ServerResponse) => unknown;

const answer = (response: ServerResponse, data: unknown): unknown =>
  response.end(JSON.stringify({ success: true, data }));

/** `responses`: to the adoptions, one after another. */
async function migrate(command: 'plan' | 'run', responses: readonly Adopt[]) {
  const bodies: unknown[] = [];
  const { server, url } = await serve(async (request, response) => {
    if (request.method === 'GET') return answer(response, { items: [], next_cursor: null });
    bodies.push(await json(request));
    return responses[bodies.length - 1]?.(request, response);
  });
  const folder = await mkdtemp(join(tmpdir(), 'mediary-adoption-'));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  await writeFile(join(folder, 'a.png'), 'picture');
  const keys = { MEDIARY_SERVICE_KEY: 'key', MEDIARY_OPERATOR_KEY: 'operator', MEDIARY_OWNER: 'ann' };
  const args = ['migrate', command, '--from', 'folder', '--folder', folder, '--json'];
  const run = await runInProcess(args, { env: { HOME: '/none', MEDIARY_URL: url, ...keys }, folder });
  return { ...run, bodies };
}

const lose: Adopt = (request) => request.socket.destroy();
const refuse =
  (status: number, code: string): Adopt =>
  (_request, response) =>
    response
      .writeHead(status)
      .end(JSON.stringify({ success: false, message: code, error: { error_code: code, details: null } }));
const adopted: Adopt = (_request, response) =>
  answer(response, { asset: { ...EXAMPLE_ASSET, kind: 'image', stream_status: 'ready' } });

test('a run repeats an adoption after lost connections, 503 and 429', async () => {
  const lost = [lose, refuse(503, 'UNAVAILABLE'), refuse(429, 'RATE_LIMITED'), adopted];
  const { code, stdout, stderr, bodies } = await migrate('run', lost);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).counts).toMatchObject({ imported_count: 1, failed_count: 0 });
  expect(bodies).toEqual(Array.from({ length: 4 }, () => bodies[0]));
});

test('a plan repeats its dry run', async () => {
  const { code, stdout, bodies } = await migrate('plan', [
    lose,
    (_request, response) => answer(response, { asset: null }),
  ]);
  expect([code, bodies.length]).toEqual([0, 2]);
  expect(JSON.parse(stdout).counts).toMatchObject({ new_count: 1 });
});

test('a refused file is its result, without another attempt', async () => {
  const { code, stdout, bodies } = await migrate('run', [refuse(400, 'BAD_REQUEST')]);
  expect([code, bodies.length]).toEqual([1, 1]);
  expect(JSON.parse(stdout).items).toMatchObject([{ result: 'failed', reason: 'BAD_REQUEST' }]);
});
