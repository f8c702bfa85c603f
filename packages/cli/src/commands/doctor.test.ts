// Tests that `mediary doctor` reports all findings when a connection breaks.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { runProgram } from '../program.ts';

test('connections that break after the first response do not hide the other findings', async () => {
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/openapi.json')) response.end(JSON.stringify({ info: { title: 'Mediary' } }));
    else request.socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const env = { HOME: '/none', MEDIARY_URL: url, MEDIARY_TOKEN: 'secret', MEDIARY_OPERATOR_KEY: 'secret' };
  const { signal } = new AbortController();
  const code = await runProgram({ env, folder: '/', stdin, stdout, stderr, signal }, ['doctor', '--json']);
  stdout.end();
  server.close();
  const { findings } = JSON.parse(await text(stdout)) as { findings: { check: string; status: string }[] };
  const statuses = Object.fromEntries(findings.map(({ check, status }) => [check, status]));
  expect(code).toBe(1);
  expect(statuses).toMatchObject({
    'connection.reachable': 'ok',
    'connection.ready': 'problem',
    'access.credentials': 'problem',
    'access.diagnostics': 'problem',
  });
});
