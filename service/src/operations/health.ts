// Whether the service can do its work now: database, store, queue (contract B9).
import { unavailable } from '../platform/errors.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { ask } from './health.sql.ts';

export type HealthNeeds = { readonly db: Database; readonly store: ObjectStore };
export type Readiness = { readonly database: 'ok'; readonly store: 'ok'; readonly queue: 'ok' };

/** Throws UNAVAILABLE with the part that is missing. */
export async function readiness({ db, store }: HealthNeeds): Promise<Readiness> {
  const answer = await ask(db);
  if (!answer?.queue) throw unavailable('The job queue is not there');
  await store.check().catch((error: unknown) => {
    throw unavailable('The store is not available', error);
  });
  return { database: 'ok', store: 'ok', queue: 'ok' };
}
