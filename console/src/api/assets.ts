// Assets, as the screens read and change them.
import {
  type Asset,
  type AssetPage,
  type AssetVersion,
  type Caption,
  isMediaryError,
  type ListAssetsQuery,
  type MediaryError,
  type Playback,
  type TimelinePage,
} from '@mediary/client';
import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { FIRST_PAGE, type KnownPages, PAGE_SIZE } from './known-pages.ts';
import { mediary } from './mediary.ts';

export type AssetFilters = Omit<ListAssetsQuery, 'cursor' | 'limit' | 'owner_user_id'> & {
  /** Undefined: all owners, for operators. */
  readonly owner?: string | undefined;
};

/** Operators see all owners; services must name one, and users are theirs. */
function toListRequest(session: ConsoleSession, { owner, ...filters }: AssetFilters) {
  const path = session.kind === 'operator' ? '/admin/media' : '/media';
  const named = owner ?? session.owner_user_id;
  const query = session.kind === 'user' || named === null ? filters : { ...filters, owner_user_id: named };
  return { path, query };
}

type PageRequest = { readonly cursor: string | undefined; readonly limit: number };

const readAssets =
  (session: ConsoleSession, filters: AssetFilters, page: PageRequest) =>
  ({ signal }: { readonly signal: AbortSignal }): Promise<AssetPage> => {
    const { path, query } = toListRequest(session, filters);
    return mediary.request<AssetPage>({
      method: 'GET',
      path,
      query: { ...query, ...page },
      options: { signal },
    });
  };

export const assetPageQuery = (session: ConsoleSession, filters: AssetFilters, cursor: string | undefined) =>
  queryOptions({
    queryKey: ['assets', 'list', filters, cursor],
    queryFn: readAssets(session, filters, { cursor, limit: PAGE_SIZE }),
  });

/** What the pages of a list have told; no request reads it. It is kept for people who come back to the list. */
export const knownPagesQuery = (filters: AssetFilters) =>
  queryOptions({
    queryKey: ['known-pages', filters],
    queryFn: (): KnownPages => FIRST_PAGE,
    initialData: FIRST_PAGE,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30 * 60_000,
  });

/** The newest assets with this text. */
export const foundAssetsQuery = (session: ConsoleSession, text: string, limit: number) =>
  queryOptions({
    queryKey: ['assets', 'list', { q: text }, undefined, limit],
    queryFn: readAssets(session, { q: text }, { cursor: undefined, limit }),
  });

export const assetQuery = (id: string) =>
  queryOptions({
    queryKey: ['assets', id],
    queryFn: ({ signal }) => mediary.media.get(id, { expand: 'collections', signal }),
    refetchInterval: ({ state }) =>
      state.data && isMoving(state.data) && !isNotFound(state.error) ? 1000 : false,
  });

/** The asset was deleted, perhaps after this page had read it. */
export const isNotFound = (error: unknown): error is MediaryError =>
  isMediaryError(error) && error.status === 404;

/** Whether the state of the asset changes by itself. */
export const isMoving = ({ stream_status: status }: Asset): boolean =>
  status === 'processing' || status === 'pending_upload';

/**
 * Other playback URLs start a player anew: they are read again only for other viewers, files or chapters, and
 * when they have ended.
 */
export const playbackQuery = ({ id, playable_at: playableAt, visibility, access, chapters }: Asset) =>
  queryOptions({
    queryKey: ['assets', id, 'playback', `${visibility} ${playableAt} ${JSON.stringify([access, chapters])}`],
    queryFn: ({ signal }): Promise<Playback> => mediary.media.playback(id, { signal }),
    staleTime: ({ state: { data, dataUpdatedAt } }) =>
      data && data.expires_at !== null
        ? Math.max(0, Date.parse(data.expires_at) - dataUpdatedAt)
        : Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });

/** The same URLs for pictures of the editor, which may change at any time. */
export const framesQuery = (id: string) =>
  queryOptions({
    queryKey: ['assets', id, 'frames'],
    queryFn: ({ signal }): Promise<Playback> => mediary.media.playback(id, { signal }),
    staleTime: 10 * 60_000,
  });

/** The files of an asset, read again while another one is about to take over. */
export const versionsQuery = ({ id, updated_at: updatedAt }: Asset) =>
  queryOptions({
    queryKey: ['assets', id, 'versions', updatedAt],
    queryFn: async ({ signal }): Promise<readonly AssetVersion[]> =>
      (await mediary.versions.list(id, { signal }).page()).items,
    placeholderData: (known) => known,
    refetchInterval: ({ state }) =>
      state.data?.some(({ role, stream_status: status }) => role === 'next' && status !== 'failed')
        ? 1000
        : false,
  });

export const captionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['assets', id, 'captions'],
    queryFn: async ({ signal }): Promise<readonly Caption[]> => {
      const captions: Caption[] = [];
      for await (const caption of mediary.captions.list(id, { signal })) captions.push(caption);
      return captions;
    },
  });

type Refreshable = { readonly queryKey: readonly unknown[] };
const isPlayback = ({ queryKey }: Refreshable): boolean => queryKey[2] === 'playback';

/**
 * Reads again what the screens show, but for playback URLs: a player would start anew. Those that no screen
 * shows are forgotten, because a deletion ends them, also for the time after it is restored.
 */
function refresh(queries: QueryClient, queryKey: readonly string[]): Promise<void> {
  queries.removeQueries({ queryKey, type: 'inactive', predicate: isPlayback });
  return queries.invalidateQueries({ queryKey, predicate: (query) => !isPlayback(query) });
}

/** Reads all assets again. */
export const refreshAssets = (queries: QueryClient): Promise<void> => refresh(queries, ['assets']);

export const refreshAsset = (queries: QueryClient, id: string): Promise<void> =>
  refresh(queries, ['assets', id]);

/** After new captions or another poster, or when the URLs have ended. */
export const refreshPlayback = (queries: QueryClient, id: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['assets', id, 'playback'] });

/** Of a list, only the pages in view are read again at once. */
export const refreshLists = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['assets', 'list'] });

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
