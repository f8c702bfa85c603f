// A delivery of an event to a webhook endpoint: its row, and how the API shows it (contract B8).
import type { EndpointDeliveryState } from '@mediary/contract/enums';
import type { DeliveryAttempt, EndpointDelivery as View } from '@mediary/contract/schemas/webhook-endpoints';
import type { RowOf } from '../../platform/postgres/row.ts';
import type { endpointDeliveryRow } from '../../tables-rows.ts';

type ColumnTypes = { state: EndpointDeliveryState; attempts: readonly DeliveryAttempt[] };

export type EndpointDelivery = Readonly<
  Omit<RowOf<typeof endpointDeliveryRow>, keyof ColumnTypes> & ColumnTypes
>;

export type NewDelivery = Pick<EndpointDelivery, 'id' | 'endpoint_id' | 'event_id' | 'asset_id' | 'type'>;

export const toDeliveryView = (delivery: EndpointDelivery): View => ({
  id: delivery.id,
  event_id: delivery.event_id,
  type: delivery.type as View['type'],
  asset_id: delivery.asset_id,
  state: delivery.state,
  attempts: [...delivery.attempts],
  next_attempt_at: delivery.lease_holder === null ? toIso(delivery.due_at) : null,
  created_at: delivery.created_at.toISOString(),
  completed_at: toIso(delivery.completed_at),
});

const toIso = (time: Date | null): string | null => time?.toISOString() ?? null;
