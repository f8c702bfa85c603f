// An encoder cannot use up the attempt counter: a report far ahead of the current attempt changes nothing
// (contract B6).
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openUpload, readAsset } from '../../support/media.ts';
import { asUser, call, startTestService, type TestService } from '../../support/service.ts';
import { deliveriesOf, notProcessed, PROCESSED, tell } from '../../support/providers/webhooks.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

test.each([102, 1_000_000_000, 1_000_000_001, 2 ** 31 - 1, Number.MAX_SAFE_INTEGER, 1e300])(
  'attempt %d',
  async (attempt) => {
    const { asset_id: id } = await openUpload(service, 'ann');
    const before = await readAsset(service, 'ann', id);
    for (const status of ['processing', 'ready', 'failed'])
      expect(await tell(service, 'onprem', { asset_id: id, status, attempt })).toEqual(
        notProcessed('not_actionable'),
      );
    expect(await readAsset(service, 'ann', id)).toEqual(before);
  },
);

test('the encoder and a retry can open further attempts', async () => {
  const { asset_id: id } = await openUpload(service, 'ann');
  const report = (status: string, attempt: number) =>
    tell(service, 'onprem', { asset_id: id, status, attempt });
  expect(await report('ready', 1_000_000_000)).toEqual(notProcessed('not_actionable'));
  expect(await report('processing', 1)).toEqual(PROCESSED);
  expect(await report('failed', 2)).toEqual(PROCESSED);
  expect(await report('ready', 102)).toEqual(PROCESSED);
  expect(await report('ready', 203)).toEqual(notProcessed('not_actionable'));
  expect((await deliveriesOf(service, id)).map(({ reason }) => reason)).toEqual([
    'not_actionable',
    'applied',
    'applied',
    'applied',
    'not_actionable',
  ]);
  const { body } = await call<{ items: { attempt: number }[] }>(service, `GET /media/${id}/timeline`, {
    headers: asUser('ann'),
  });
  expect(body.data.items.at(-1)?.attempt).toBe(102);
});
