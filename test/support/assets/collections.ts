// Creates collections, and reads and changes their order, by requests of their owner.
import { expectSuccess } from '../http/envelope.ts';
import { IMAGE, openUpload } from '../media.ts';
import { type Answer, asUser, call, type TestService } from '../service.ts';

export type CollectionJson = Record<string, unknown> & { id: string; asset_count: number };
export type ItemsResult = { changed_asset_ids: string[]; asset_count: number };
type ItemPage = { items: { asset: { id: string } }[]; next_cursor: string | null };

export const createCollection = async (service: TestService, user: string, fields: object = {}) =>
  expectSuccess<CollectionJson>(
    await call(service, 'POST /collections', {
      headers: asUser(user),
      json: { name: 'Films', ...fields },
    }),
  );

/** Assets without bytes, in the order of their creation. */
export async function openAssets(service: TestService, user: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < count; number += 1)
    ids.push((await openUpload(service, user, IMAGE)).asset_id);
  return ids;
}

export type OwnCollection = {
  readonly service: TestService;
  readonly user: string;
  readonly id: string;
};

export const addItems = (
  { service, user, id }: OwnCollection,
  assetIds: readonly string[],
  place: object = {},
): Promise<Answer<ItemsResult>> =>
  call(service, `POST /collections/${id}/items`, {
    headers: asUser(user),
    json: { asset_ids: assetIds, ...place },
  });

export const moveItem = (
  { service, user, id }: OwnCollection,
  assetId: string,
  place: object,
): Promise<Answer<ItemsResult>> =>
  call(service, `PATCH /collections/${id}/items/${assetId}`, { headers: asUser(user), json: place });

export const removeItem = (
  { service, user, id }: OwnCollection,
  assetId: string,
): Promise<Answer<ItemsResult>> =>
  call(service, `DELETE /collections/${id}/items/${assetId}`, { headers: asUser(user) });

export const readPage = async ({ service, user, id }: OwnCollection, query: string): Promise<ItemPage> =>
  expectSuccess<ItemPage>(
    await call(service, `GET /collections/${id}/items?${query}`, { headers: asUser(user) }),
  );

/** The ids of all pages. */
export async function readOrder(collection: OwnCollection, limit = 100): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page: ItemPage = await readPage(collection, `limit=${limit}${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.items.map(({ asset }) => asset.id));
    cursor = page.next_cursor;
  }
  return ids;
}
