// The network between an API process and its database drops all packets: requests get 503 within seconds, and
// after it heals, new connections replace the silent ones and nothing acknowledged is lost.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CutProxy, startCutProxy } from '../support/http/cut-proxy.ts';
import { expectRefusal, expectSuccess } from '../support/http/envelope.ts';
import { expectNothingLost } from '../support/store/kept-assets.ts';
import { openLedger } from '../support/store/ledger.ts';
import { type SharedData, startSharedData } from '../support/postgres/shared-data.ts';
import { type Answer, asUser, call, eventually } from '../support/service.ts';
import {
  endAllIn,
  type ServiceProcess,
  sharedBy,
  startProcess,
  workerOf,
} from '../support/service/service-process.ts';
import { ffmpegPath } from '../support/clips/clips.ts';
import { LIBRARY } from '../support/providers/webhooks.ts';

const CLIENTS = 6;
const CUT_MS = 6000;
/** One timeout of a statement (4 s), and time for a machine that has other things to do. */
const ANSWERED_WITHIN_MS = 6500;
const RECOVERED_WITHIN_MS = 6000;
const headers = asUser('ann');

let data: SharedData;
let network: CutProxy;
let service: ServiceProcess;
let worker: ServiceProcess;

beforeAll(async () => {
  data = await startSharedData();
  const { host, port, user, database } = data.postgres.connection;
  network = await startCutProxy(join(host, `.s.PGSQL.${port}`));
  const shared = {
    ...sharedBy({ ...data, ffmpegPath: ffmpegPath() }),
    LOG_LEVEL: 'error',
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
  };
  service = await startProcess({
    ...shared,
    MEDIARY_ROLE: 'api',
    DATABASE_URL: `postgresql://${user}@127.0.0.1:${network.port}/${database}`,
  });
  worker = await startProcess(workerOf(shared, service));
});
afterAll(async () => {
  await Promise.all([service, worker].map((process) => process?.end('SIGKILL')));
  await endAllIn(data.dataDir);
  await network?.close();
  await data?.remove();
});

type TimedAnswer = { readonly answer: Answer; readonly ms: number };

async function ask(request: string): Promise<TimedAnswer> {
  const asked = performance.now();
  return { answer: await call(service, request, { headers }), ms: performance.now() - asked };
}

/** One reader asks once, and without a pause until the time is over. */
async function askFor(ms: number): Promise<TimedAnswer[]> {
  const answers = [await ask('GET /media')];
  for (const end = Date.now() + ms; Date.now() < end; ) answers.push(await ask('GET /media'));
  return answers;
}

test('requests get 503 while the network is cut, and writes go on after it heals', async () => {
  const ledger = openLedger(service, CLIENTS, { name: 'cut' });
  await ledger.acknowledges(80);
  network.cut();
  const answers = (await Promise.all([askFor(CUT_MS), askFor(CUT_MS)])).flat();
  expect(answers.length).toBeGreaterThan(2);
  for (const { answer, ms } of answers) {
    expect(expectRefusal(answer, 503)).toMatchObject({ error_code: 'UNAVAILABLE' });
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(ms).toBeLessThan(ANSWERED_WITHIN_MS);
  }
  expectSuccess(await call(service, `GET ${new URL(service.url).origin}/healthz`));

  network.heal();
  const healed = performance.now();
  const written = await ledger.acknowledges(0);
  await eventually(
    () => ledger.acknowledges(0),
    (count) => count > written + CLIENTS,
    { withinMs: RECOVERED_WITHIN_MS },
  );
  for (const { answer } of await askFor(RECOVERED_WITHIN_MS - (performance.now() - healed)))
    expectSuccess(answer);
  await ledger.close();
  expect(ledger.surprises).toEqual([]);
  await expectNothingLost(service, data.dataDir, ledger);
});
