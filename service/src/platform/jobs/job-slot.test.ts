// Tests how many slots of a fair queue one owner holds, and that a run can give its slot back.
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../../test/support/postgres/postgres.ts';
import { type JobQueue, openJobs, type SlotRun } from './job-queue.ts';
import type { Connection } from '../postgres/connection.ts';
import { type Database, openDatabase } from '../postgres/database.ts';

type Note = { readonly words: string };
type Runs = { note: Note };
const LONG = { timeout: 20_000 };

let server: TestPostgres;
let connection: Connection;
let db: Database;
beforeAll(async () => {
  server = await startTestPostgres();
});
beforeEach(async () => {
  connection = await server.database();
  db = openDatabase({ connection, onIdleError: () => undefined });
});
afterAll(() => server.stop());

async function open(concurrency: number) {
  const errors: Error[] = [];
  const queue = await openJobs<Runs>({
    connection,
    settings: { note: { concurrency, expireIn: 60, retries: 5, retryDelay: 0, fair: true } },
    searchedMember: 'words',
    onError: (error) => errors.push(error),
  });
  onTestFinished(async () => {
    await queue.stop();
    await db.close();
    expect(errors).toEqual([]);
  });
  return queue;
}

const send = (queue: JobQueue<Runs>, owner: string, ...words: string[]) =>
  db.transaction(async (tx) => {
    for (const each of words) await queue.sendFor(tx, owner, { name: 'note', payload: { words: each } });
  });

/** Starts workers whose runs last until `end` is called with their words. */
async function startHolding(queue: JobQueue<Runs>) {
  const held = new Map<string, { run: SlotRun<Note>; end: () => void }>();
  const started: string[] = [];
  await queue.work({
    note: (run) =>
      new Promise<void>((resolve, reject) => {
        const { words } = run.payload;
        started.push(words);
        const end = () => {
          held.delete(words);
          resolve();
        };
        held.set(words, { run, end });
        run.signal.addEventListener('abort', () => reject(new Error('stopped')));
      }),
  });
  const holder = (words: string) => {
    const found = held.get(words);
    if (!found) throw new Error(`${words} does not run`);
    return found;
  };
  return {
    held,
    started,
    slotOf: (words: string) => holder(words).run.slot,
    end: (words: string) => holder(words).end(),
  };
}

test('one owner holds all slots but one, and the job of another starts at once', async () => {
  const queue = await open(4);
  await send(queue, 'flood', 'f0', 'f1', 'f2', 'f3', 'f4');
  const { held, started, end } = await startHolding(queue);
  await expect.poll(() => held.size, LONG).toBe(3);
  await send(queue, 'victim', 'v');
  await expect.poll(() => [...held.keys()], LONG).toContain('v');
  expect(started.filter((words) => words.startsWith('f'))).toHaveLength(3);
  end([...held.keys()].find((words) => words.startsWith('f')) ?? '');
  await expect.poll(() => started, LONG).toHaveLength(5);
  expect(new Set(started).size).toBe(5);
});

test('a slot is wanted while an owner without one waits', async () => {
  const queue = await open(1);
  await send(queue, 'flood', 'f0', 'f1');
  const { slotOf, end, started } = await startHolding(queue);
  await expect.poll(() => started, LONG).toEqual(['f0']);
  expect(await slotOf('f0').isWanted()).toBe(false);
  await send(queue, 'victim', 'v0', 'v1');
  expect(await slotOf('f0').isWanted()).toBe(true);
  end('f0');
  await expect.poll(() => started, LONG).toEqual(['f0', 'v0']);
  expect(await slotOf('v0').isWanted()).toBe(true);
  end('v0');
});

test('a run that gives its slot back runs again after the job of the owner that waits', async () => {
  const queue = await open(1);
  await send(queue, 'flood', 'f0', 'f1');
  const { slotOf, end, started } = await startHolding(queue);
  await expect.poll(() => started, LONG).toEqual(['f0']);
  await send(queue, 'victim', 'v');
  await db.transaction((tx) => slotOf('f0').giveBack(tx));
  end('f0');
  await expect.poll(() => started, LONG).toEqual(['f0', 'v']);
  end('v');
  await expect.poll(() => started, LONG).toEqual(['f0', 'v', 'f1']);
  end('f1');
  await expect.poll(() => started, LONG).toEqual(['f0', 'v', 'f1', 'f0']);
  end('f0');
});

test('a rollback keeps the slot', async () => {
  const queue = await open(1);
  await send(queue, 'owner', 'o');
  const { slotOf, end, started } = await startHolding(queue);
  await expect.poll(() => started, LONG).toEqual(['o']);
  await db
    .transaction(async (tx) => {
      await slotOf('o').giveBack(tx);
      throw new Error('changed my mind');
    })
    .catch(() => undefined);
  end('o');
  await send(queue, 'owner', 'later');
  await expect.poll(() => started, LONG).toEqual(['o', 'later']);
  end('later');
});
