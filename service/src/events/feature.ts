// Events: the timeline of an asset, live events, and outbound webhooks (contract B2, B8).
import { offer } from '../platform/values/offer.ts';
import type { EventsContext } from './context.ts';
import { type DeliverySender, startDeliverySender } from './endpoints/delivery-sender.ts';
import { deleteOldEndpointDeliveries } from './endpoints/endpoint-deliveries.ts';
import { endpointRoutes } from './endpoints/webhook-endpoints.routes.ts';
import { createWebhookClient } from './endpoints/webhook-request.ts';
import { createEventStreams, preparePositions } from './event-streams.ts';
import { eventRoutes } from './events.routes.ts';

export type Events = ReturnType<typeof createEvents>['operations'];

export function createEvents(ctx: EventsContext) {
  const { openStream, endStreams } = createEventStreams(ctx);
  const client = createWebhookClient(ctx);
  let sender: DeliverySender | undefined;
  return {
    operations: {
      ...offer(ctx, { preparePositions, deleteOldEndpointDeliveries }),
      endStreams,
      startDeliverySender: () => {
        sender = startDeliverySender(ctx, client);
        return sender;
      },
    },
    routes: [
      ...eventRoutes(ctx, openStream),
      ...endpointRoutes(ctx, { client, wakeSender: () => sender?.wake() }),
    ],
    jobs: {},
  };
}
