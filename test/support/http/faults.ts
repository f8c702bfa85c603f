// A database and a store whose n-th call in a request fails once, either before or after it takes effect.
import { Readable } from 'node:stream';
import type { Adapters } from '../../../service/src/adapters.ts';
import { unavailable } from '../../../service/src/platform/http/errors.ts';
import type { Database, Queries, Transaction } from '../../../service/src/platform/postgres/database.ts';
import type { ObjectStore } from '../../../service/src/storage/object-store.ts';

/** `unheard`: it was done, and only the answer was lost. */
export const MOMENTS = ['before', 'unheard'] as const;
type Moment = (typeof MOMENTS)[number];

type Faults = {
  wrapAdapters(adapters: Adapters): Adapters;
  /** Runs the work with its n-th call failing; answers what the work did, and the calls that it made. */
  during<T>(
    fault: { n: number; moment: Moment },
    work: () => Promise<T>,
  ): Promise<{ result: T; calls: readonly string[] }>;
};

/** Statements that a service makes at intervals: they belong to no request. */
const AT_INTERVALS: ReadonlySet<string> = new Set([
  'endpoint overview',
  'database time',
  'record worker',
  'delete stale workers',
  'queue states',
  'insert sample',
  'fill sample',
  'unjoined samples',
  'delete old samples',
  'sum owner totals',
]);

type Call = <T>(name: string, make: () => T | Promise<T>, lost: () => Error) => Promise<T>;
type Plan = { readonly n: number; readonly moment: Moment; readonly calls: string[] };

export function planFaults(): Faults {
  let plan: Plan | undefined;
  const call: Call = async (name, make, lost) => {
    if (AT_INTERVALS.has(name)) return make();
    const fails = plan !== undefined && plan.calls.push(name) === plan.n ? plan.moment : undefined;
    if (fails === 'before') throw lost();
    const made = await make();
    if (fails === 'unheard') throw lost();
    return made;
  };
  return {
    wrapAdapters: (adapters) => ({
      ...adapters,
      db: faultyDatabase(adapters.db, call),
      store: faultyStore(adapters.store, call),
    }),
    during: async (fault, work) => {
      const calls: string[] = [];
      plan = { ...fault, calls };
      const result = await work().finally(() => {
        plan = undefined;
      });
      return { result, calls };
    },
  };
}

const noDatabase = () => unavailable('The database is not available', new Error('a planned fault'));
const noDisk = () => Object.assign(new Error('a planned fault'), { code: 'EIO', syscall: 'any' });

const faultyQueries = (db: Queries, call: Call): Queries => ({
  all: (statement) => call(statement.name, () => db.all(statement), noDatabase),
  one: (statement) => call(statement.name, () => db.one(statement), noDatabase),
});

/** The end of a transaction is a call too: it may fail, or be heeded unheard. */
const faultyDatabase = (db: Database, call: Call): Database => ({
  ...db,
  ...faultyQueries(db, call),
  transaction: (work) =>
    call(
      'commit',
      () =>
        db.transaction(async (tx) => {
          const result = await work(faultyTransaction(tx, call));
          await call('last moment', () => undefined, noDatabase);
          return result;
        }),
      noDatabase,
    ),
});

const faultyTransaction = (tx: Transaction, call: Call): Transaction => ({
  ...tx,
  ...faultyQueries(tx, call),
  executeSql: (text, values) => call('job', () => tx.executeSql(text, values), noDatabase),
});

const faultyStore = (store: ObjectStore, call: Call): ObjectStore => ({
  ...store,
  put: (...given) => call('put', () => store.put(...given), noDisk),
  putSmall: (...given) => call('put', () => store.putSmall(...given), noDisk),
  putFile: (...given) => call('put', () => store.putFile(...given), noDisk),
  size: (...given) => call('size', () => store.size(...given), noDisk),
  read: (...given) => call('read', () => store.read(...given), noDisk),
  remove: (...given) => call('remove', () => store.remove(...given), noDisk),
  removeAll: (...given) => call('removeAll', () => store.removeAll(...given), noDisk),
  stream: (...given) => Readable.from(streamed(() => store.stream(...given), call)),
});

async function* streamed(open: () => Readable, call: Call): AsyncGenerator<unknown> {
  yield* await call('stream', open, noDisk);
}
