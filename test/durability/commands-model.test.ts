// Random commands of callers and providers on a few assets: every response matches a model of the contract.
import { readFile, rm } from 'node:fs/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Driver, LIBRARY, send } from '../support/assets/asset-driver.ts';
import { foretell } from '../support/assets/asset-model.ts';
import { commands, type Step } from '../support/assets/asset-steps.ts';
import { makeClip } from '../support/clips/clips.ts';
import { SEED } from '../support/service/seed.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';

/** Each run has another seed: many short runs search further than one long run. */
const LISTS = 800;
const STEPS = 30;
/** That many lists are under way at a time. */
const LANES = 16;

let dataDir: string;
let service: ServiceProcess;
let originals: Driver['originals'];
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  // Without a worker, jobs move nothing: only callers and reports do.
  service = await startProcess({
    DATA_DIR: dataDir,
    MEDIARY_ROLE: 'api',
    CDNHOST_STREAM_LIBRARY_ID: String(LIBRARY),
    CDNHOST_STREAM_HOSTNAME: 'cdn.example',
    EDGEHOST_CUSTOMER_SUBDOMAIN: 'edge.example',
  });
  const small = { seconds: 1, width: 64, height: 64, fps: 10 };
  originals = {
    video: await readFile(await makeClip(small)),
    image: await readFile(
      await makeClip({
        ...small,
        audio: false,
        more: ['-frames:v', '1', '-c:v', 'png', '-f', 'image2', '-update', '1', '-pix_fmt', 'rgb24'],
      }),
    ),
  };
});
afterAll(async () => {
  await service?.end('SIGTERM');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

let lists = 0;

async function play(steps: readonly Step[]): Promise<void> {
  const run = `${SEED}-${++lists}`;
  const world = { run, assets: [], parked: new Map() };
  const driver: Driver = { url: service.url, owner: `owner ${run}`, world, ids: [], uploads: [], originals };
  for (const [index, step] of steps.entries())
    await take(driver, step, `step ${index}, ${JSON.stringify(step)}`);
  for (const at of world.assets.keys())
    await take(driver, { do: 'get', at, by: 'service' }, `asset ${at} at the end`);
}

async function take(driver: Driver, step: Step, which: string): Promise<void> {
  const seen = await send(driver, step);
  const expected = foretell(driver.world, step);
  if (expected) expect(seen, which).toMatchObject(expected);
  else expect(seen, which).toBeUndefined();
}

test(`${LISTS} lists of ${STEPS} commands get the responses that the model predicts`, async () => {
  const lane = (index: number) =>
    fc.assert(fc.asyncProperty(commands(STEPS), play), { numRuns: LISTS / LANES, seed: SEED + index });
  await Promise.all(Array.from({ length: LANES }, (_, index) => lane(index)));
}, 600_000);
