// Live changes: the events of the service refresh what the screens have read.
import type { AssetPage, StreamedEvent } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { refreshAsset, refreshLists } from './assets.ts';
import { mediary } from './mediary.ts';

/** Follows the events while the page is in view: browsers have six connections for all pages of a host. */
export function useLiveAssets({ kind, owner_user_id: owner }: ConsoleSession): void {
  const queries = useQueryClient();
  useEffect(() => {
    let controller: AbortController | undefined;
    const sync = (): void => {
      controller?.abort();
      controller = undefined;
      if (document.visibilityState !== 'visible') return;
      controller = new AbortController();
      const ownerUserId = kind === 'service' ? (owner ?? undefined) : undefined;
      void follow(queries, { ownerUserId, signal: controller.signal });
    };
    sync();
    document.addEventListener('visibilitychange', sync);
    return () => {
      document.removeEventListener('visibilitychange', sync);
      controller?.abort();
    };
  }, [queries, kind, owner]);
}

const RETRY_MS = 30_000;
const FLUSH_MS = 700;

type FollowOptions = { readonly ownerUserId: string | undefined; readonly signal: AbortSignal };

/** Screens still poll what is moving while the stream is refused. */
async function follow(queries: QueryClient, options: FollowOptions): Promise<void> {
  const { signal } = options;
  const refresh = createRefresher(queries, signal);
  while (!signal.aborted) {
    try {
      for await (const event of mediary.events.stream(options)) refresh(event);
    } catch {
      if (signal.aborted) return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, RETRY_MS);
    });
  }
}

/** Several events of a moment cause one refresh. */
function createRefresher(queries: QueryClient, signal: AbortSignal): (event: StreamedEvent) => void {
  let pending: StreamedEvent[] = [];
  const flush = (): void => {
    const events = pending;
    pending = [];
    if (signal.aborted) return;
    for (const id of new Set(events.map(({ asset_id: assetId }) => assetId))) void refreshAsset(queries, id);
    for (const event of events) patchLists(queries, event);
    if (events.some(changesLists)) void refreshLists(queries);
  };
  return (event) => {
    pending.push(event);
    if (pending.length === 1) setTimeout(flush, FLUSH_MS);
  };
}

const LIST_EVENTS = ['asset.created', 'asset.deleted', 'asset.restored', 'asset.ready', 'asset.failed'];
const changesLists = ({ type }: StreamedEvent): boolean => LIST_EVENTS.includes(type);

/** A list shows the new state at once. */
function patchLists(queries: QueryClient, { asset }: StreamedEvent): void {
  if (!asset) return;
  queries.setQueriesData<AssetPage>({ queryKey: ['assets', 'list'] }, (page) => {
    if (!page?.items.some(({ id }) => id === asset.id)) return page;
    return {
      ...page,
      items: page.items.map((item) => (item.id === asset.id ? { ...item, ...asset } : item)),
    };
  });
}
