// Reports in random order, repeated and on many connections end in the state that the model predicts
// (contract B6).
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAssets } from '../../../service/src/assets/asset-lookup.sql.ts';
import { openUpload } from '../../support/media.ts';
import { type FinalState, predictState, type Report } from '../../support/providers/report-model.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { deliveriesOf, eventsOf, tell } from '../../support/providers/webhooks.ts';

const ASSETS = 50;
const REPORTS_EACH = 40;
const CONNECTIONS = 16;
const SEED = Date.now() % 2 ** 31;

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

const rendition = fc.record({
  height: fc.constantFrom(240, 360, 720),
  state: fc.constantFrom('queued', 'encoding', 'failed', 'ready'),
});
const report: fc.Arbitrary<Report> = fc.record({
  status: fc.constantFrom('processing', 'processing', 'failed', 'ready'),
  attempt: fc.constantFrom(1, 2, 3),
  progress: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
  renditions: fc.option(fc.array(rendition, { maxLength: 3 }), { nil: undefined }),
});
/** Some ten different reports, most of them several times. */
const reports = fc
  .array(report, { minLength: 1, maxLength: 12 })
  .chain((different) =>
    fc.array(fc.constantFrom(...different), { minLength: REPORTS_EACH, maxLength: REPORTS_EACH }),
  );

type Storm = { readonly id: string; readonly said: readonly Report[] };

/** Asset after asset five at a time, so that the connections meet at one row again and again. */
function shuffled(storms: readonly Storm[]): { id: string; said: Report }[] {
  const blocks = Array.from({ length: Math.ceil(storms.length / 5) }, (_, block) =>
    storms.slice(block * 5, block * 5 + 5),
  );
  return blocks.flatMap((block, index) => {
    const all = block.flatMap(({ id, said }) => said.map((one) => ({ id, said: one })));
    return (
      fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), { numRuns: 1, seed: SEED + index })[0] ??
      []
    );
  });
}

async function send(queue: readonly { id: string; said: Report }[]): Promise<number[]> {
  const waiting = queue.values();
  const statuses: number[] = [];
  const connection = async () => {
    for (const { id, said } of waiting)
      statuses.push((await tell(service, 'onprem', { asset_id: id, ...said })).status);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  return statuses;
}

async function endingOf(id: string): Promise<FinalState | undefined> {
  const [asset] = await findAssets(service.adapters.db, [id]);
  return (
    asset && {
      status: asset.stream_status,
      attempt: asset.attempt,
      progress: asset.progress,
      renditions: asset.renditions.map(({ height, state }) => `${height} ${state}`).sort(),
    }
  );
}

describe(`concurrent reports in random order (seed ${SEED})`, () => {
  let storms: readonly Storm[];
  let statuses: readonly number[];
  beforeAll(async () => {
    const sets = fc.sample(reports, { numRuns: ASSETS, seed: SEED });
    storms = await Promise.all(
      sets.map(async (said) => ({ id: (await openUpload(service, 'ann')).asset_id, said })),
    );
    statuses = await send(shuffled(storms));
  });

  test('get 200 each', () => {
    expect(statuses).toEqual(Array.from({ length: ASSETS * REPORTS_EACH }, () => 200));
  });

  test('leave every asset as the model predicts', async () => {
    const fresh = { stream_status: 'pending_upload', attempt: 1, refused: false };
    for (const { id, said } of storms)
      expect([id, await endingOf(id)]).toEqual([id, predictState(fresh, said)]);
  });

  test('are all recorded, and only applied ones are marked processed', async () => {
    for (const { id } of storms) {
      const deliveries = await deliveriesOf(service, id);
      expect(deliveries).toHaveLength(REPORTS_EACH);
      for (const { processed, reason } of deliveries)
        expect([reason, processed]).toEqual([reason, reason === 'applied' || reason === 'repeat']);
    }
  });

  test('add each state of an attempt to the timeline at most once', async () => {
    for (const { id } of storms) {
      const events = await eventsOf(service, id);
      for (const type of ['asset.processing', 'asset.failed', 'asset.ready'])
        expect([type, events.filter((event) => event === type).length <= 3]).toEqual([type, true]);
      expect(events[0]).toBe('asset.created');
    }
  });
});
