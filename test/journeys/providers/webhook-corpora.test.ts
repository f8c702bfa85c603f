// Collected JSON files as signed webhooks: each is accepted or rejected, and changes nothing (contract B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openUpload, readAsset } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { samplesOf, TEST_DATA } from '../../support/clips/test-data.ts';
import {
  deliver,
  linkVideo,
  notProcessed,
  READY,
  refusedWith,
  signatureOf,
  tell,
  type Verdict,
  PROVIDERS,
} from '../../support/providers/webhooks.ts';

const CONNECTIONS = 8;
const CORPORA = { 'json-parsing': 300, 'json-fuzz-small': 500 };
const TAKEN = notProcessed('not_actionable');
const REFUSED = refusedWith('Invalid webhook payload');

let service: TestService;
let ids: readonly string[] = [];
const snapshot = () => Promise.all(ids.map((id) => readAsset(service, 'ann', id)));

beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  const videoIds = { cdnhost: randomUUID(), edgehost: randomUUID() };
  const hosted = await Promise.all(
    (['cdnhost', 'edgehost'] as const).map((provider) =>
      linkVideo(service, { provider, provider_video_id: videoIds[provider] }),
    ),
  );
  const [waiting, ready] = await Promise.all([openUpload(service, 'ann'), openUpload(service, 'ann')]);
  await tell(service, 'onprem', READY.onprem(ready.asset_id));
  ids = [...hosted, waiting, ready].map(({ asset_id: id }) => id);
});
afterAll(() => service?.stop());

/** What the corpus itself says: `y_` has to be read, `n_` must not be. */
const mayBe = (name: string): Verdict[] =>
  name.startsWith('y_') ? [TAKEN] : name.startsWith('n_') ? [REFUSED] : [TAKEN, REFUSED];

describe.each(PROVIDERS)('the webhook of %s', (provider) => {
  test.skipIf(!TEST_DATA).each(Object.entries(CORPORA))(
    'accepts or rejects every body of %s, and changes no asset',
    async (folder, atLeast) => {
      const before = await snapshot();
      const samples = samplesOf(folder);
      expect(samples.length).toBeGreaterThan(atLeast);
      const waiting = samples.values();
      const connection = async () => {
        for (const { name, body } of waiting) {
          const verdict = await deliver(service, provider, { body, headers: signatureOf(provider, body) });
          expect(mayBe(name).map((one) => [name, one])).toContainEqual([name, verdict]);
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, connection));
      expect(await snapshot()).toEqual(before);
    },
    300_000,
  );
});
