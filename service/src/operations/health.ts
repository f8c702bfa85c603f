// Checks whether the service can work: database, object store and job queue (contract B9).
import { unavailable } from '../platform/errors.ts';
import { diskFull, type SpaceGuard } from '../platform/free-space.ts';
import type { Database } from '../platform/postgres/database.ts';
import { ObjectRefused, type ObjectStore } from '../storage/object-store.ts';
import { probeDatabase } from './operations.sql.ts';

type HealthNeeds = {
  readonly db: Database;
  readonly store: ObjectStore;
  readonly requireDatabaseSpace: SpaceGuard;
  readonly isStopping: () => boolean;
};
type Readiness = { readonly database: 'ok'; readonly store: 'ok'; readonly queue: 'ok' };

/** Throws UNAVAILABLE and names the failed component. */
export async function checkReadiness(needs: HealthNeeds): Promise<Readiness> {
  const { db, store, requireDatabaseSpace, isStopping } = needs;
  if (isStopping()) throw unavailable('The process is stopping');
  const probe = await probeDatabase(db);
  if (!probe?.queue) throw unavailable('The tables of the job queue are missing');
  await requireDatabaseSpace();
  await store.check().catch((error: unknown) => {
    throw isFull(error)
      ? diskFull('object store', error)
      : unavailable('The object store is not available', error);
  });
  return { database: 'ok', store: 'ok', queue: 'ok' };
}

const isFull = (error: unknown) => error instanceof ObjectRefused && error.reason === 'full';
