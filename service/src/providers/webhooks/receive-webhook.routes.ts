// Receives the webhooks of providers (contract A1, A5).
import type { BytesOperation } from '@mediary/contract/operation';
import type { FastifyRequest } from 'fastify';
import type { ProviderName } from '../../assets/asset.ts';
import { success } from '../../platform/http/envelope.ts';
import { headerValues } from '../../platform/http/headers.ts';
import { type BytesRoute, bytesRoute } from '../../platform/http/route.ts';
import type { ProvidersContext } from '../context.ts';
import { type ReceivedWebhook, receiveWebhook } from './receive-webhook.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** Headers that help to diagnose a delivery and contain no secrets. */
const STORED_HEADERS = ['content-type', 'content-length', 'user-agent', 'x-request-id', 'x-forwarded-for'];

/** `operation`: the endpoint of the provider. */
type WebhookEndpoint = { readonly provider: ProviderName; readonly operation: BytesOperation };

export const webhookRoutes = (ctx: ProvidersContext, endpoints: readonly WebhookEndpoint[]): BytesRoute[] =>
  endpoints.map(({ provider, operation }) =>
    bytesRoute(operation, {
      body: { maxBytes: MAX_BODY_BYTES },
      handle: async (request) => {
        const { processed, reason, isOwnEncoder } = await receiveWebhook(
          ctx,
          provider,
          toReceivedWebhook(request),
        );
        request.isRoutine = isOwnEncoder;
        return success(request.id, processed ? 'Webhook processed' : `Webhook not processed: ${reason}`, {
          processed,
        });
      },
    }),
  );

const toReceivedWebhook = ({ raw, headers, body }: FastifyRequest): ReceivedWebhook => ({
  headers: (name) => headerValues(raw, name),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  storedHeaders: Object.fromEntries(
    STORED_HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  ),
});
