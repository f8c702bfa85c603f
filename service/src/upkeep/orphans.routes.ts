// For operators: compares the object store with the database.
import { findOrphans } from '@mediary/contract/operations/operators';
import type { guarded } from '../platform/http/route.ts';
import type { OrphanReport } from './orphans.ts';

type Orphans = { findOrphans(how: { remove: boolean }): Promise<OrphanReport> };
type AsOperator = ReturnType<typeof guarded<undefined, object>>;

export const orphanRoutes = (orphans: Orphans, asOperator: AsOperator) => [
  asOperator(findOrphans, async ({ body }) => {
    const { objects, assets, ...report } = await orphans.findOrphans({ remove: body.remove === true });
    return { ...report, objects: [...objects], assets: [...assets] };
  }),
];
