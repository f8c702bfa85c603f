// Tests that an erasure can be followed after `--quiet`, also where the command ends before its result.
import { expect, onTestFinished, test } from 'vitest';
import { runInProcess, serve } from '../../program.fixture.ts';

const RUNNING = {
  id: 'erasure-1',
  status: 'running',
  phase: 'removing',
  counts: {
    asset_count: 2,
    removed_asset_count: 1,
    provider_video_count: 0,
    removed_provider_video_count: 0,
  },
  waiting: [],
  completed_at: null,
};

/** Interrupted when the service is asked for the progress. */
async function eraseQuietly(...flags: readonly string[]) {
  const interruption = new AbortController();
  const { server, url } = await serve(({ method }, response) => {
    if (method === 'GET') interruption.abort();
    response.end(JSON.stringify({ success: true, data: { erasure: RUNNING } }));
  });
  onTestFinished(() => {
    server.close();
  });
  const env = { MEDIARY_URL: url, MEDIARY_OPERATOR_KEY: 'secret' };
  const args = ['owners', 'erase', 'ann', '--yes', '--quiet', ...flags];
  return runInProcess(args, { env, folder: import.meta.dirname, signal: interruption.signal });
}

test('the result has the id', async () => {
  const { code, stdout, stderr } = await eraseQuietly();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^erasure +erasure-1$/m);
});

test('an interrupted wait leaves the id', async () => {
  const { code, stderr } = await eraseQuietly('--wait');
  expect(code).toBe(130);
  expect(stderr).toContain('mediary owners erasure ann erasure-1');
});
