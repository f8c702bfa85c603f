// Receives the webhooks of providers (contract A1, A5).
import type { BytesOperation } from '@mediary/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { ProviderName } from '../assets/asset.ts';
import type { Outcome } from '../lifecycle/stream-report.ts';
import { success } from '../platform/http/envelope.ts';
import { headerValues } from '../platform/http/headers.ts';
import { type BytesRoute, bytesRoute } from '../platform/http/route.ts';
import type { Arrival } from './webhooks.ts';

type Webhooks = { receive(provider: ProviderName, arrival: Arrival): Promise<Outcome> };

const MAX_BODY = 1024 * 1024;
/** Headers that help to understand a delivery later and give nothing away. */
const KEPT = ['content-type', 'content-length', 'user-agent', 'x-request-id', 'x-forwarded-for'];

/** `operation`: the endpoint of the provider. */
type WebhookEndpoint = { readonly provider: ProviderName; readonly operation: BytesOperation };

export const webhookRoutes = (webhooks: Webhooks, endpoints: readonly WebhookEndpoint[]): BytesRoute[] =>
  endpoints.map(({ provider, operation }) =>
    bytesRoute(operation, {
      body: { maxBytes: MAX_BODY },
      handle: async (request) => {
        const { processed, reason } = await webhooks.receive(provider, arrivalOf(request));
        return success(request.id, processed ? 'Webhook processed' : `Webhook not processed: ${reason}`, {
          processed,
        });
      },
    }),
  );

const arrivalOf = ({ raw, headers, body }: FastifyRequest): Arrival => ({
  headers: (name) => headerValues(raw, name),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  kept: Object.fromEntries(
    KEPT.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  ),
});
