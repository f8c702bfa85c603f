// A real video goes in, a playable stream comes out.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../support/clips.ts';
import { ingest } from '../support/media.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
beforeAll(async () => { service = await startTestService(); });
afterAll(() => service.stop());

test('a video becomes ready', async () => {
  const asset = await ingest(service, 'ann', { file: await makeClip({ seconds: 2 }) });
  expect(asset).toMatchObject({ stream_status: 'ready', progress: 100, failure: null });
});
