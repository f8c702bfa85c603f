// An uncaught error: the process logs it once, accepts no further requests, stops its database and exits.
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSocket } from '../support/http/raw-socket.ts';
import { call } from '../support/service.ts';
import { newDatabaseDir } from '../support/service/data-folders.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../support/service/service-process.ts';
import { processesNaming } from '../support/service/traces.ts';

const EXITS_WITHIN_MS = 5000;
/** Loaded before the service: a signal makes it fail as a bug in an event handler would. */
const plant = (fault: string) =>
  `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${fault} })`)}`;

let dataDir: string;
let service: ServiceProcess;
beforeEach(async () => {
  dataDir = await newDatabaseDir();
});
afterEach(async () => {
  await service?.end('SIGKILL');
  await endAllIn(dataDir);
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
});

const fatalLines = () =>
  service
    .log()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map(
      (line) => JSON.parse(line) as { level: string; msg: string; err: { message: string; stack: string } },
    )
    .filter(({ level }) => level === 'fatal');

const THROW = "throw new Error('planted')";

test.each([
  ['an exception', 'uncaught exception', THROW],
  ['a rejection', 'unhandled rejection', "Promise.reject(new Error('planted'))"],
  [
    'the first of two exceptions',
    'uncaught exception',
    `setImmediate(() => { throw new Error('second') }); ${THROW}`,
  ],
])('%s that is not caught stops the process cleanly', async (_what, kind, fault) => {
  service = await startProcess({ DATA_DIR: dataDir, NODE_OPTIONS: plant(fault) });
  expect((await call(service, `GET ${new URL(service.url).origin}/healthz`)).status).toBe(200);
  await readFile(join(dataDir, 'postgres', 'postmaster.pid'));
  const idle = await openSocket(service.url);
  const isCut = new Promise((resolve) => {
    idle.once('close', resolve);
  });
  idle.on('error', () => {}); // A reset is as good as an end.
  idle.resume();

  const began = performance.now();
  process.kill(service.pid, 'SIGUSR2');
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(performance.now() - began).toBeLessThan(EXITS_WITHIN_MS);
  await isCut;

  const lines = fatalLines();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatchObject({ msg: expect.stringContaining(kind), err: { message: 'planted' } });
  expect(lines[0]?.err.stack).toMatch(/\n\s+at /);
  expect(await processesNaming(dataDir)).toEqual([]);
  await expect(readFile(join(dataDir, 'postgres', 'postmaster.pid'))).rejects.toThrow(/ENOENT/);
});
