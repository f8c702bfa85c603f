// Client libraries of the hosted products work with the simulators, so the simulators answer in their wire
// format.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulators, startSimulators } from '../../simulators/simulators.ts';

let sims: Simulators;
beforeAll(async () => {
  sims = await startSimulators({ stepMs: 1 });
});
afterAll(() => sims.stop());

async function run(program: string, ...settings: string[]): Promise<string> {
  const file = join(import.meta.dirname, 'programs', program);
  const values = settings.map((name) => sims.environment[name] ?? '');
  const { stdout } = await promisify(execFile)(process.execPath, [file, ...values]);
  return stdout;
}

test("Cloudflare's client library works with edgehost", async () => {
  expect(
    await run('cloudflare.ts', 'EDGEHOST_API_URL', 'EDGEHOST_ACCOUNT_ID', 'EDGEHOST_STREAM_API_TOKEN'),
  ).toBe('done\n');
});

test('bunnycdn-stream works with cdnhost', async () => {
  expect(
    await run('bunnycdn-stream.ts', 'CDNHOST_API_URL', 'CDNHOST_STREAM_LIBRARY_ID', 'CDNHOST_STREAM_API_KEY'),
  ).toBe('done\n');
});
