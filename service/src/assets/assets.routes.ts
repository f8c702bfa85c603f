// Reading, listing and removing assets (contract B2, B3).
import { Type } from 'typebox';
import { noteOf } from './actor.ts';
import type { Asset } from './asset.ts';
import type { EventData } from './asset-event.ts';
import { AssetView, nullable, viewOf } from './asset-view.ts';
import type { Page } from './assets.ts';
import type { Guards } from './own-asset.hook.ts';

type Assets = {
  list(owner: string, page: { cursor: string | undefined; limit: number }): Promise<Page>;
  remove(asset: Asset, note: EventData): Promise<{ id: string; deleted: true }>;
};

/** Type-free, because a user caller's own value is ignored. */
export const Owner = Type.Optional(Type.Unknown({ description: 'Required of service callers: whose asset it is. Ignored from users.' }));

const ListQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(Type.String({ description: '`next_cursor` of the page before' })),
  owner_user_id: Owner,
});
const ListAnswer = Type.Object({ items: Type.Array(AssetView), next_cursor: nullable(Type.String()) });
const Removed = Type.Object({ id: Type.String(), deleted: Type.Literal(true) });
const OwnerOnly = Type.Object({ owner_user_id: Owner });

export const assetRoutes = (assets: Assets, { asReader, ownAsset, changingAsset }: Guards, publicBaseUrl: () => string) => [
  asReader({
    method: 'GET', url: '/media', message: 'Assets', summary: 'Lists the owner\'s assets, newest first', query: ListQuery, answer: ListAnswer,
    handle: async ({ actor, query }) => {
      const page = await assets.list(actor.ownerUserId, { cursor: query.cursor, limit: query.limit });
      return { items: page.items.map((asset) => viewOf(asset, publicBaseUrl())), next_cursor: page.nextCursor };
    },
  }),
  ownAsset({
    method: 'GET', url: '/media/:id', message: 'Asset', summary: 'Reads one asset', answer: AssetView, errors: [403, 404],
    handle: async ({ asset }) => viewOf(asset, publicBaseUrl()),
  }),
  changingAsset({
    method: 'DELETE', url: '/media/:id', message: 'Asset deleted', summary: 'Removes an asset: it stops playing at once, its bytes are removed by a job',
    query: OwnerOnly, body: OwnerOnly, answer: Removed, errors: [403, 404],
    handle: ({ asset, actor }) => assets.remove(asset, noteOf(actor, asset)),
  }),
];
