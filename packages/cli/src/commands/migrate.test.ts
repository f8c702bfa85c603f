// Tests that `mediary migrate` takes no more memory than its items need.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInProcess, serve } from '../program.fixture.ts';

test('a concurrency above the number of items costs nothing', async () => {
  const library = await mkdtemp(join(tmpdir(), 'mediary-library-'));
  await writeFile(join(library, 'notes.txt'), 'no media');
  const { server, url } = await serve((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ success: true, data: { items: [], next_cursor: null } }));
  });
  const env = { HOME: '/none', MEDIARY_URL: url, MEDIARY_SERVICE_KEY: 'key', MEDIARY_OPERATOR_KEY: 'key' };
  const source = ['--from', 'folder', '--folder', library, '--owner', 'ann', '--json'];
  const args = ['migrate', 'plan', ...source, '--concurrency', '999999999'];
  const { code, stdout } = await runInProcess(args, { env, folder: '/' });
  server.close();
  await rm(library, { recursive: true });
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ item_count: 1 })]);
});
