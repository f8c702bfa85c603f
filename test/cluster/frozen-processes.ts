// Processes of a cluster hang or are gone for a while under load: the others go on, and nothing is lost.
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '../../deploy/cluster/cluster.ts';
import { expectRefusal } from '../support/http/envelope.ts';
import { asUser, call, eventually } from '../support/service.ts';
import { logOf } from '../support/service/process-logs.ts';
import { freeze, keepDown, pidsOf } from '../support/service/supervised.ts';
import { signalProcesses } from '../support/service/traces.ts';
import { expectNothingLost } from '../support/store/kept-assets.ts';
import { type Ledger, openLedger } from '../support/store/ledger.ts';

type Installation = {
  readonly cluster: Cluster;
  readonly api: { readonly url: string };
  readonly folder: string;
  readonly databaseDir: string;
};

const CLIENTS = 8;
const MEASURED_MS = 5000;
/** Longer than nginx waits for an ordinary response (6 s). */
const FROZEN_MS = 10_000;
/** Longer than all attempts of a request to the store. */
const GONE_MS = 10_000;
/** What clients still get acknowledged while one process is frozen. */
const KEPT_SHARE = 0.6;
const RECOVERED_WITHIN_MS = 10_000;

/** Acknowledged writes per second until the work has ended. */
async function rateDuring(ledger: Ledger, work: Promise<unknown>): Promise<number> {
  const [before, startMs] = [await ledger.acknowledges(0), performance.now()];
  await work;
  return (1000 * ((await ledger.acknowledges(0)) - before)) / (performance.now() - startMs);
}

async function expectRecovery(ledger: Ledger): Promise<void> {
  const before = await ledger.acknowledges(0);
  await eventually(
    () => ledger.acknowledges(0),
    (count) => count > before + 2 * CLIENTS,
    { withinMs: RECOVERED_WITHIN_MS },
  );
}

async function expectUnavailable(api: { readonly url: string }): Promise<void> {
  const startMs = performance.now();
  const answer = await call(api, 'GET /media', { headers: asUser('ann') });
  expect(expectRefusal(answer, 503).error_code).toBe('UNAVAILABLE');
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(performance.now() - startMs).toBeLessThan(RECOVERED_WITHIN_MS);
}

export function describeFrozenProcesses(installation: () => Installation): void {
  describe('while clients write', () => {
    let ledger: Ledger;
    let pids: readonly (number | undefined)[];
    let usualRate: number;

    beforeAll(async () => {
      const { api, cluster } = installation();
      pids = pidsOf([...cluster.apis, ...cluster.workers]);
      ledger = openLedger(api, CLIENTS, { name: 'freeze', hasRepeatingProxy: true });
      await ledger.acknowledges(100);
    });
    afterAll(() => ledger?.close());

    test('a frozen API process or worker leaves 60 % of the writes', async () => {
      const { apis, workers } = installation().cluster;
      const before = await rateDuring(ledger, delay(MEASURED_MS));
      const withoutApi = await rateDuring(ledger, freeze(apis[0]?.pid(), FROZEN_MS));
      await expectRecovery(ledger);
      const withoutWorker = await rateDuring(ledger, freeze(workers[0]?.pid(), MEASURED_MS));
      const after = await rateDuring(ledger, delay(MEASURED_MS));
      usualRate = Math.min(before, after);
      expect({ before, withoutApi, withoutWorker, after }).toMatchObject({
        withoutApi: expect.toSatisfy((rate: number) => rate > KEPT_SHARE * usualRate),
        withoutWorker: expect.toSatisfy((rate: number) => rate > KEPT_SHARE * usualRate),
      });
    });

    test('while the S3 gateway is gone, writes without bytes go on', async () => {
      const { gateway } = installation().cluster;
      const withoutGateway = await rateDuring(ledger, keepDown(gateway, GONE_MS));
      expect(withoutGateway).toBeGreaterThan(0.1 * usualRate);
      await expectRecovery(ledger);
    });

    test('while PostgreSQL is frozen the answer is 503 with Retry-After within seconds', async () => {
      const { api, databaseDir } = installation();
      await signalProcesses(databaseDir, 'SIGSTOP');
      try {
        await expectUnavailable(api);
      } finally {
        await signalProcesses(databaseDir, 'SIGCONT');
      }
      await expectRecovery(ledger);
    });

    test('afterwards nothing that was acknowledged is lost, and nothing is stuck', async () => {
      const { api, folder, databaseDir, cluster } = installation();
      await ledger.close();
      expect(ledger.surprises, await logOf(folder, ledger.surprises)).toEqual([]);
      await expectNothingLost(api, databaseDir, ledger);
      expect(pidsOf([...cluster.apis, ...cluster.workers])).toEqual(pids);
    });
  });
}
