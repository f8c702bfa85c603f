// Tests that `mediary doctor` reports all findings when a connection breaks.
import { expect, test } from 'vitest';
import { runInProcess, serve } from '../program.fixture.ts';

test('connections that break after the first response do not hide the other findings', async () => {
  const { server, url } = await serve((request, response) => {
    if (request.url?.endsWith('/openapi.json')) response.end(JSON.stringify({ info: { title: 'Mediary' } }));
    else request.socket.destroy();
  });
  const env = { HOME: '/none', MEDIARY_URL: url, MEDIARY_TOKEN: 'secret', MEDIARY_OPERATOR_KEY: 'secret' };
  const { code, stdout } = await runInProcess(['doctor', '--json'], { env, folder: '/' });
  server.close();
  const { findings } = JSON.parse(stdout) as { findings: { check: string; status: string }[] };
  const statuses = Object.fromEntries(findings.map(({ check, status }) => [check, status]));
  expect(code).toBe(1);
  expect(statuses).toMatchObject({
    'connection.reachable': 'ok',
    'connection.ready': 'problem',
    'access.credentials': 'problem',
    'access.diagnostics': 'problem',
  });
});

test.each([
  [['--body-size', '65M'], 'Expected at most 64M.'],
  [['--origin', 'app.example.com'], 'such as https://app.example.com'],
  [['--origin', 'https://app.example.com/upload'], 'such as https://app.example.com'],
])('what it cannot check is refused: %j', async (flags, message) => {
  const { code, stderr } = await runInProcess(['doctor', ...flags], { env: { HOME: '/none' }, folder: '/' });
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

test('shows what is wrong, and the rest with --all', async () => {
  const { server, url } = await serve((request, response) => {
    const isApi = request.url?.endsWith('/openapi.json');
    if (isApi) return response.end(JSON.stringify({ info: { title: 'Mediary' }, servers: [{ url }] }));
    response.end(JSON.stringify({ success: true, data: { worker_count: 1 } }));
  });
  const run = async (...args: string[]) => {
    const env = { HOME: '/none', MEDIARY_URL: url };
    return (await runInProcess(['doctor', ...args], { env, folder: '/' })).stdout;
  };
  const [short, long] = [await run(), await run('--all')];
  server.close();
  expect(long).toContain('The service is ready, with one worker.');
  expect(short).not.toContain('connection.ready');
  expect(short).not.toContain('access.credentials');
  expect(short).toMatch(/✗ .* {2}cors\.playback/);
  expect(short).toContain('mediary doctor --all');
});
