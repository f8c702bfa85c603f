// The database server of this process, which all services of its tests share.
import { type ChildProgram, startChildProgram } from './child-program.ts';
import type { DatabaseHostFunctions } from './database-host.program.ts';

type DatabaseHost = ChildProgram<DatabaseHostFunctions>;
type DatabaseLease = { readonly host: DatabaseHost; release(): Promise<void> };

let current: { readonly host: DatabaseHost; leases: number } | undefined;

const PROGRAM = new URL('./database-host.program.ts', import.meta.url);

/** Starts the server for the first lease. The end of the last lease stops it and removes its data. */
export function leaseDatabaseHost(): DatabaseLease {
  current ??= { host: startChildProgram(PROGRAM, 'the database of the tests'), leases: 0 };
  const leased = current;
  leased.leases += 1;
  return {
    host: leased.host,
    release: async () => {
      leased.leases -= 1;
      if (leased.leases > 0) return;
      if (current === leased) current = undefined;
      await leased.host.end();
    },
  };
}
