// Assets, as the screens read and change them.
import type {
  Asset,
  AssetPage,
  AssetVersion,
  Caption,
  ListAssetsQuery,
  Playback,
  TimelinePage,
} from '@mediary/client';
import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
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
    queryFn: ({ signal }) => mediary.media.get(id, { expand: 'collections', signal }),
    refetchInterval: ({ state }) => (state.data && isMoving(state.data) ? 1000 : false),
  });

/** Whether the state of the asset changes by itself. */
export const isMoving = ({ stream_status: status }: Asset): boolean =>
  status === 'processing' || status === 'pending_upload';

/** Other playback URLs start a player anew: they are read again only for other viewers, files or chapters. */
export const playbackQuery = ({ id, playable_at: playableAt, visibility, access, chapters }: Asset) =>
  queryOptions({
    queryKey: ['assets', id, 'playback', `${visibility} ${playableAt} ${JSON.stringify([access, chapters])}`],
    queryFn: ({ signal }): Promise<Playback> => mediary.media.playback(id, { signal }),
    staleTime: 10 * 60_000,
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
const isNoPlayback = ({ queryKey }: Refreshable): boolean => queryKey[2] !== 'playback';

/** Reads all assets again. */
export const refreshAssets = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['assets'], predicate: isNoPlayback });

export const refreshAsset = (queries: QueryClient, id: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['assets', id], predicate: isNoPlayback });

/** After new captions or another poster. */
export const refreshPlayback = (queries: QueryClient, id: string): Promise<void> =>
  queries.invalidateQueries({ queryKey: ['assets', id, 'playback'] });

/** A long list is not read again as a whole: its assets change in place. */
const MAX_PAGES = 3;
export const refreshLists = (queries: QueryClient): Promise<void> =>
  queries.invalidateQueries({
    queryKey: ['assets', 'list'],
    predicate: ({ state }) => countPages(state.data) <= MAX_PAGES,
  });

const countPages = (data: unknown): number =>
  typeof data === 'object' && data !== null && 'pages' in data && Array.isArray(data.pages)
    ? data.pages.length
    : 0;

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
