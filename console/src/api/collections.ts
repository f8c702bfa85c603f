// Collections of one owner, as the screens read them. Changes of assets refresh them too.
import type { Collection, CollectionItemPage, CollectionPage } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { mediary } from './mediary.ts';

const PAGE_SIZE = 50;
const paging = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: ({ next_cursor: next }: { readonly next_cursor: string | null }) => next ?? undefined,
};

/** Operators and services name the owner; users are theirs. */
export const toOwner = (session: ConsoleSession, ownerUserId: string) =>
  session.kind === 'user' ? {} : { ownerUserId };

export const collectionsQuery = (session: ConsoleSession, owner: string) =>
  infiniteQueryOptions({
    queryKey: ['assets', 'collections', 'of', owner],
    queryFn: ({ pageParam, signal }): Promise<CollectionPage> =>
      mediary.collections.list({ limit: PAGE_SIZE }, { ...toOwner(session, owner), signal }).page(pageParam),
    ...paging,
  });

export const collectionQuery = (id: string) =>
  queryOptions({
    queryKey: ['assets', 'collections', id],
    queryFn: ({ signal }): Promise<Collection> => mediary.collections.get(id, { signal }),
  });

export const collectionItemsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['assets', 'collections', id, 'items'],
    queryFn: ({ pageParam, signal }): Promise<CollectionItemPage> =>
      mediary.collections.items(id, { limit: PAGE_SIZE }, { signal }).page(pageParam),
    ...paging,
  });
