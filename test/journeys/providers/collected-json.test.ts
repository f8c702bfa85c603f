// Collected JSON files as request bodies cause no internal error (contract A3).
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_DATA } from '../../support/clips/clips.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service.stop());

const headers = { ...asUser('ann'), 'content-type': 'application/json' };

describe.skipIf(!TEST_DATA)('collected JSON', () => {
  test('causes no internal error', async () => {
    const folder = join(TEST_DATA as string, 'json-parsing');
    const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.json'));
    expect(files.length).toBeGreaterThan(200);
    for (const file of files) {
      const body = await readFile(join(folder, file));
      const answer = await call(service, 'POST /media/upload-url?expand=asset', { headers, body });
      expect.soft(answer.status, file).toBe(body.length > 128 * 1024 ? 413 : 400);
    }
  });
});
