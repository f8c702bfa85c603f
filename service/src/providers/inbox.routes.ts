// For operators: lists, shows and replays webhook deliveries (contract B6).
import type { DeliveryReason } from '@mediary/contract/enums';
import { getDelivery, listDeliveries, replayDeliveries } from '@mediary/contract/operations/operators';
import type { DeliverySummary, Delivery as DeliveryView } from '@mediary/contract/schemas/operators';
import type { Static } from 'typebox';
import type { AsOperator } from '../platform/http/route.ts';
import type { Delivery, InboxQuery, ListedDelivery, Paging, Replayed, Replaying } from './inbox.ts';

type Inbox = {
  list(query: InboxQuery, page: Paging): Promise<{ items: ListedDelivery[]; next: string | null }>;
  read(id: string): Promise<Delivery>;
  replay(replaying: Replaying): Promise<{ items: Replayed[]; next: string | null }>;
};

export const inboxRoutes = (inbox: Inbox, asOperator: AsOperator) => [
  asOperator(listDeliveries, async ({ query: { limit, cursor, ...filter } }) => {
    const { items, next } = await inbox.list(filter, { limit, cursor });
    return { items: items.map(viewOf), next_cursor: next };
  }),
  asOperator(getDelivery, async ({ params }) => wholeOf(await inbox.read(params.id))),
  asOperator(
    replayDeliveries,
    async ({ body: { id, dry_run: isDryRun = true, limit = 200, cursor, ...filter } }) => {
      const { items, next } = await inbox.replay({ id, query: filter, isDryRun, limit, cursor });
      return { dry_run: isDryRun, items, next_cursor: next };
    },
  ),
];

const viewOf = ({ received_at, is_ours: _, ...row }: ListedDelivery): Static<typeof DeliverySummary> => ({
  ...row,
  reason: row.reason as DeliveryReason,
  received_at: received_at.toISOString(),
});

const wholeOf = ({ body, headers, ...row }: Delivery): Static<typeof DeliveryView> => ({
  ...viewOf(row),
  headers: headers as Record<string, string>,
  body: textOf(body),
  body_base64: Buffer.from(body).toString('base64'),
});

function textOf(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    // No text: the base64 beside it is the whole truth.
    return null;
  }
}
