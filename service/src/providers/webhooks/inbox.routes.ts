// For operators: lists, shows and replays webhook deliveries (contract B6).
import type { DeliveryReason } from '@mediary/contract/enums';
import * as operations from '@mediary/contract/operations/admin/operators';
import type { DeliverySummary, Delivery as DeliveryView } from '@mediary/contract/schemas/admin/operators';
import type { Static } from 'typebox';
import { timeOf } from '../../platform/values/uuid.ts';
import type { ProvidersContext } from '../context.ts';
import {
  getDelivery,
  type InboxQuery,
  type ListedDelivery,
  listDeliveryPage,
  replayDeliveries,
} from './inbox.ts';

type StoredDelivery = Awaited<ReturnType<typeof getDelivery>>;

export const inboxRoutes = (ctx: ProvidersContext) => [
  ctx.asOperator(operations.listDeliveries, async ({ query: { limit, cursor, ...query } }) => {
    const { items, next } = await listDeliveryPage(ctx, query as InboxQuery, { limit, cursor });
    return { items: items.map(toSummary), next_cursor: next };
  }),
  ctx.asOperator(operations.getDelivery, async ({ params }) =>
    toDeliveryView(await getDelivery(ctx, params['id'] ?? '')),
  ),
  ctx.asOperator(
    operations.replayDeliveries,
    async ({ body: { id, dry_run: isDryRun = true, limit = 200, cursor, ...rest } }) => {
      const query = rest as InboxQuery;
      const { items, next } = await replayDeliveries(ctx, { id, query, isDryRun, limit, cursor });
      return { dry_run: isDryRun, items, next_cursor: next };
    },
  ),
];

/** `created_at` is the time in the id, by which lists filter. */
const toSummary = ({
  received_at: _received,
  is_own_encoder: _ours,
  ...row
}: ListedDelivery): Static<typeof DeliverySummary> => ({
  ...row,
  reason: row.reason as DeliveryReason,
  created_at: timeOf(row.id).toISOString(),
});

const toDeliveryView = ({ body, headers, ...row }: StoredDelivery): Static<typeof DeliveryView> => ({
  ...toSummary(row),
  headers: headers as Record<string, string>,
  body: decodeText(body),
  body_base64: Buffer.from(body).toString('base64'),
});

function decodeText(body: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    // Not UTF-8: the response contains the body in Base64 only.
    return null;
  }
}
