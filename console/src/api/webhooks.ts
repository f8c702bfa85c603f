// Webhooks: those that providers send, and those that the service sends.
import type { EndpointDeliveryPage, WebhookEndpointPage } from '@mediary/client';
import type { EndpointDeliveryState } from '@mediary/contract/enums';
import type {
  Delivery,
  DeliveryPage,
  DeliverySummary,
  ReplayResult,
} from '@mediary/contract/schemas/admin/operators';
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Static } from 'typebox';
import { mediary } from './mediary.ts';

export type ProviderDelivery = Static<typeof DeliverySummary>;
export type FullDelivery = Static<typeof Delivery>;

/** Filters of the inbox, as the address of the screen has them. */
export type InboxFilters = {
  readonly provider?: string;
  readonly reason?: string;
  readonly asset_id?: string;
  readonly processed?: string;
};

const PAGE_SIZE = 50;
/** Nothing announces deliveries. */
const POLL_MS = 5000;
const firstPage = { initialPageParam: undefined as string | undefined };
const nextPage = ({ next_cursor: next }: { readonly next_cursor: string | null }) => next ?? undefined;

/** A long list would be read again as a whole. */
const pollShort = ({ state }: { readonly state: { readonly data?: { pages: unknown[] } | undefined } }) =>
  (state.data?.pages.length ?? 0) <= 1 ? POLL_MS : false;

export const inboxQuery = (filters: InboxFilters) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'inbox', filters],
    queryFn: ({ pageParam, signal }) =>
      mediary.request<Static<typeof DeliveryPage>>({
        method: 'GET',
        path: '/admin/deliveries',
        query: { ...filters, limit: PAGE_SIZE, cursor: pageParam },
        options: { signal },
      }),
    ...firstPage,
    getNextPageParam: nextPage,
    refetchInterval: pollShort,
  });

export const deliveryQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: ({ signal }) =>
      mediary.request<FullDelivery>({
        method: 'GET',
        path: `/admin/deliveries/${encodeURIComponent(id)}`,
        options: { signal },
      }),
  });

type Replay = InboxFilters & { readonly id?: string };

/** A page of what a replay changes, or changed. */
export const replayDeliveries = (
  { processed, ...filters }: Replay,
  { isDryRun, cursor }: { readonly isDryRun: boolean; readonly cursor?: string | undefined },
): Promise<ReplayResult> =>
  mediary.request<ReplayResult>({
    method: 'POST',
    path: '/admin/deliveries/replay',
    body: {
      ...filters,
      ...(processed !== undefined && { processed: processed === 'true' }),
      dry_run: isDryRun,
      cursor,
    },
  });

export const endpointsQuery = infiniteQueryOptions({
  queryKey: ['webhooks', 'endpoints'],
  queryFn: ({ pageParam, signal }) =>
    mediary.request<WebhookEndpointPage>({
      method: 'GET',
      path: '/webhook-endpoints',
      query: { limit: PAGE_SIZE, cursor: pageParam },
      options: { signal },
    }),
  ...firstPage,
  getNextPageParam: nextPage,
  refetchInterval: pollShort,
});

export const endpointQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', 'endpoint', id],
    queryFn: ({ signal }) => mediary.webhookEndpoints.get(id, { signal }),
    refetchInterval: POLL_MS,
  });

export const sentQuery = (id: string, state: EndpointDeliveryState | undefined) =>
  infiniteQueryOptions({
    queryKey: ['webhooks', 'sent', id, state],
    queryFn: ({ pageParam, signal }) =>
      mediary.request<EndpointDeliveryPage>({
        method: 'GET',
        path: `/webhook-endpoints/${encodeURIComponent(id)}/deliveries`,
        query: { limit: PAGE_SIZE, cursor: pageParam, state },
        options: { signal },
      }),
    ...firstPage,
    getNextPageParam: nextPage,
    refetchInterval: pollShort,
  });
