// Assets, as the screens read and change them.
import type { Asset, AssetPage, ListAssetsQuery, Playback, TimelinePage } from '@mediary/client';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ConsoleSession } from '@mediary/contract/schemas/console';
import { mediary } from './mediary.ts';

export type AssetFilters = Omit<ListAssetsQuery, 'cursor' | 'limit' | 'owner_user_id'> & {
  /** Undefined: all owners, for operators. */
  readonly owner?: string | undefined;
};

const PAGE_SIZE = 60;

/** Operators see all owners; services must name one, and users are theirs. */
function toListRequest(session: ConsoleSession, { owner, ...filters }: AssetFilters) {
  const path = session.kind === 'operator' ? '/admin/media' : '/media';
  const named = owner ?? session.owner_user_id;
  const query = session.kind === 'user' || named === null ? filters : { ...filters, owner_user_id: named };
  return { path, query };
}

export const assetsQuery = (session: ConsoleSession, filters: AssetFilters) =>
  infiniteQueryOptions({
    queryKey: ['assets', 'list', filters],
    queryFn: ({ pageParam, signal }) => {
      const { path, query } = toListRequest(session, filters);
      return mediary.request<AssetPage>({
        method: 'GET',
        path,
        query: { ...query, limit: PAGE_SIZE, cursor: pageParam },
        options: { signal },
      });
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });

export const assetQuery = (id: string) =>
  queryOptions({
    queryKey: ['assets', id],
    queryFn: ({ signal }) => mediary.media.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? 1000 : false),
  });

/** Whether the state of the asset changes by itself. */
export const isMoving = ({ stream_status: status }: Asset): boolean =>
  status === 'processing' || status === 'pending_upload';

export const playbackQuery = (id: string, revision: string) =>
  queryOptions({
    queryKey: ['assets', id, 'playback', revision],
    queryFn: ({ signal }): Promise<Playback> => mediary.media.playback(id, { signal }),
    staleTime: 10 * 60_000,
  });

export const timelineQuery = (id: string, updatedAt: string) =>
  infiniteQueryOptions({
    queryKey: ['assets', id, 'timeline', updatedAt],
    queryFn: ({ pageParam, signal }) =>
      mediary.request<TimelinePage>({
        method: 'GET',
        path: `/media/${encodeURIComponent(id)}/timeline`,
        query: { cursor: pageParam },
        options: { signal },
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
