// For operators: what lies in the store without an asset, and which assets lie nowhere.
import { type Static, Type } from 'typebox';
import type { guarded } from '../platform/http/route.ts';
import type { OrphanReport } from './orphans.ts';

type Orphans = { findOrphans(how: { remove: boolean }): Promise<OrphanReport> };
type AsOperator = ReturnType<typeof guarded<undefined, object>>;

const Wish = Type.Object({
  remove: Type.Optional(Type.Boolean({ default: false, description: 'False: a dry run' })),
});
const Report = Type.Object({
  object_count: Type.Integer(),
  objects: Type.Array(Type.String()),
  removed: Type.Boolean(),
  asset_count: Type.Integer(),
  assets: Type.Array(Type.String()),
});

export const orphanRoutes = (orphans: Orphans, asOperator: AsOperator) => [
  asOperator({
    method: 'POST',
    url: '/admin/orphans',
    message: 'Orphans',
    body: Wish,
    answer: Report,
    summary:
      'Holds store and database against each other; removes the objects that nobody points to where asked',
    handle: async ({ body }) =>
      (await orphans.findOrphans({ remove: body.remove === true })) as Static<typeof Report>,
  }),
];
