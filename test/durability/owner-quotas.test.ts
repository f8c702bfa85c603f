// Quotas and rate limits are exact with two processes, and counters equal a recount.
import { readFile, rm } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { type Driver, LIBRARY, send } from '../support/assets/asset-driver.ts';
import { commands, type Step } from '../support/assets/asset-steps.ts';
import { makeClip } from '../support/clips/clips.ts';
import { IMAGE, type Started } from '../support/media.ts';
import { SEED } from '../support/service/seed.ts';
import { asOperator, asUser, call, eventually } from '../support/service.ts';
import { newDataDir, newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, sharedBy, startProcess } from '../support/service/service-process.ts';
import { rows } from '../support/service/traces.ts';
import { usageDrift, usedBy } from '../support/assets/usage.ts';

const AT_ONCE = 64;
const ROUNDS = 5;

let databaseDir: string;
let dataDir: string;
let postgres: EmbeddedPostgres;
let processes: ServiceProcess[] = [];
let originals: Driver['originals'];

beforeAll(async () => {
  [databaseDir, dataDir] = [await newDatabaseDir(), await newDataDir()];
  postgres = await startEmbeddedPostgres(databaseDir);
  const settings = {
    ...sharedBy({ postgres, dataDir, ffmpegPath: '' }),
    MEDIARY_ROLE: 'api',
    // Every owner is counted, and none of those that work at random is refused.
    OWNER_MAX_ASSETS: '100000',
    RATE_LIMIT_PER_OWNER: '1000000/1h',
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
    CDNHOST_STREAM_HOSTNAME: 'cdn.example',
    EDGEHOST_CUSTOMER_SUBDOMAIN: 'edge.example',
  };
  processes = await Promise.all([startProcess(settings), startProcess(settings)]);
  const clip = await readFile(await makeClip({ seconds: 1, width: 64, height: 64, fps: 5, audio: false }));
  originals = { video: clip, image: clip };
});

afterAll(async () => {
  await Promise.all(processes.map((process) => process.end('SIGTERM')));
  await endAllIn(dataDir);
  await postgres?.stop();
  await Promise.all(
    [databaseDir, dataDir].map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 })),
  );
});

const processAt = (index: number) => processes[index % processes.length] as ServiceProcess;
/** On a slow machine, some get no connection to the database in time: their clients try again. */
const open = (index: number, owner: string, fields: object = {}) =>
  eventually(
    () =>
      call<Started>(processAt(index), 'POST /media/upload-url?expand=asset', {
        headers: asUser(owner),
        json: { ...IMAGE, ...fields },
      }),
    ({ status }) => status !== 503,
  );
const setLimits = async (owner: string, json: object) => {
  const path = `PUT /admin/owners/${owner}/limits`;
  expect((await call(processAt(0), path, { headers: asOperator, json })).status).toBe(200);
};
const reasonOf = ({ status, body }: Awaited<ReturnType<typeof open>>) =>
  status === 200 ? 'opened' : `${status} ${String(body.error.details?.['reason'])}`;
const countOf = (answers: readonly string[], wanted: string) =>
  answers.filter((answer) => answer === wanted).length;

describe('near the limit of a quota', () => {
  test(`${AT_ONCE} concurrent uploads: exactly as many are created as the quota allows`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [limit, uses] of [
        [{ max_bytes: 1099 }, [1000, 10, 10]],
        [{ max_assets: 7 }, [700, 7, 7]],
        [{ max_pending: 3 }, [300, 3, 3]],
      ] as const) {
        const owner = `edge-${round}-${Object.keys(limit)[0]}`;
        await setLimits(owner, limit);
        const answers = await Promise.all(
          Array.from({ length: AT_ONCE }, async (_, index) =>
            reasonOf(await open(index, owner, { size_bytes: 100 })),
          ),
        );
        expect(countOf(answers, 'opened')).toBe(uses[1]);
        expect(countOf(answers, '400 quota_exceeded')).toBe(AT_ONCE - uses[1]);
        expect(await usedBy(processAt(0), owner)).toEqual(uses);
      }
    }
  });

  test('requests of several owners in one batch do not affect each other', async () => {
    const owners = Array.from({ length: 8 }, (_, index) => `shared-${index}`);
    for (const owner of owners) await setLimits(owner, { max_assets: 5 });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE * 2 }, async (_, index) => {
        const owner = owners[index % owners.length] as string;
        return `${owner} ${reasonOf(await open(index >> 3, owner))}`;
      }),
    );
    for (const owner of owners) {
      expect(countOf(answers, `${owner} opened`)).toBe(5);
      expect(countOf(answers, `${owner} 400 quota_exceeded`)).toBe(11);
    }
  });

  test('limits that are set during uploads count all of them', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const owner = `meanwhile-${round}`;
      const opening = Array.from({ length: AT_ONCE }, (_, index) => open(index, owner, { size_bytes: 1 }));
      await setLimits(owner, { max_assets: 20 });
      const opened = (await Promise.all(opening)).filter(({ status }) => status === 200).length;
      const clear = { headers: asOperator };
      expect(await usedBy(processAt(1), owner)).toEqual([opened, opened, opened]);
      expect((await open(0, owner)).status).toBe(opened < 20 ? 200 : 400);
      await call(processAt(1), `DELETE /admin/owners/${owner}/limits`, clear);
      expect((await open(1, owner)).status).toBe(200);
    }
    expect(await usageDrift(databaseDir)).toEqual([]);
  });
});

test('counters equal a recount after random commands to two processes', async () => {
  const LISTS = 120;
  const LANES = 12;
  const statuses: number[] = [];
  const play = async (owner: string, list: readonly (readonly Step[])[]) => {
    const shared = { owner, world: { run: owner, assets: [], parked: new Map() }, ids: [], uploads: [] };
    const lanes = list.map(async (steps, lane) => {
      for (const [index, step] of steps.entries()) {
        const driver: Driver = { ...shared, originals, url: processAt(index + lane).url };
        const seen = await send(driver, step);
        if (seen) statuses.push(seen.status);
      }
    });
    await Promise.all(lanes);
  };
  const lists = fc.sample(commands(40), { numRuns: LISTS, seed: SEED });
  for (let from = 0; from < LISTS; from += LANES)
    // Three lists of commands for each owner at once.
    await Promise.all(
      [0, 3, 6, 9].map((lane) => play(`random-${from + lane}`, lists.slice(from + lane, from + lane + 3))),
    );
  expect(statuses.length).toBeGreaterThan(LISTS * 20);
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
  const [counted] = await rows(
    databaseDir,
    `select count(*)::int as owners, sum(bytes) > 0 as has_bytes, sum(pending) > 0 as has_pending
       from owner_usage where owner_user_id like 'random-%'`,
  );
  expect(counted).toEqual({ owners: LISTS / 3, has_bytes: true, has_pending: true });
  expect(await usageDrift(databaseDir)).toEqual([]);
}, 600_000);

test('two processes share one rate limit', async () => {
  const LIMIT = 30;
  const settings = {
    ...sharedBy({ postgres, dataDir, ffmpegPath: '' }),
    MEDIARY_ROLE: 'api',
    RATE_LIMIT_PER_OWNER: `${LIMIT}/24h`,
  };
  const both = await Promise.all([startProcess(settings), startProcess(settings)]);
  try {
    // The first request of a process opens its connections, which takes its time.
    for (const process of both) await call(process, 'GET /media', { headers: asUser('first') });
    const ask = async (index: number) =>
      (
        await call(both[index % 2] as ServiceProcess, 'GET /media', {
          headers: asUser(`limited-${index % 4}`),
        })
      ).status;
    const statuses = await Promise.all(Array.from({ length: 4 * AT_ONCE }, (_, index) => ask(index)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(4 * LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4 * (AT_ONCE - LIMIT));
    // Owners 0 and 2 reached one process alone so far: the other refuses them too.
    expect(await Promise.all([0, 1, 2, 3].map(async (index) => crossed(both, index)))).toEqual([
      429, 429, 429, 429,
    ]);
  } finally {
    await Promise.all(both.map((process) => process.end('SIGTERM')));
  }
});

const crossed = async (both: readonly ServiceProcess[], owner: number) =>
  (await call(both[(owner + 1) % 2] as ServiceProcess, 'GET /media', { headers: asUser(`limited-${owner}`) }))
    .status;
