// The three doors through which providers report (contract A1, A5).
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ProviderName } from '../assets/asset.ts';
import type { Outcome } from '../lifecycle/delivery.ts';
import { success } from '../platform/http/envelope.ts';
import { headerValues } from '../platform/http/headers.ts';
import type { RawRoute } from '../platform/http/route.ts';
import type { Arrival } from './webhooks.ts';

type Webhooks = { receive(provider: ProviderName, arrival: Arrival): Promise<Outcome> };

const MAX_BODY = 1024 * 1024;
/** Headers that help to understand a delivery later and give nothing away. */
const KEPT = ['content-type', 'content-length', 'user-agent', 'x-request-id', 'x-forwarded-for'];

export const webhookRoutes = (webhooks: Webhooks, providers: readonly ProviderName[]): RawRoute[] =>
  providers.map((provider) => ({
    kind: 'raw',
    method: 'POST',
    url: `/webhooks/stream/${provider}`,
    rateClass: 'webhook',
    body: { maxBytes: MAX_BODY },
    summary: `Takes a signed report of ${provider}; the body is read whatever its Content-Type says`,
    answer: Type.Object({ processed: Type.Boolean() }),
    answers: {
      200: 'Taken: `data.processed` says whether it moved the asset, `message` why not',
      401: 'Signature or JSON invalid, or the provider is not configured',
      413: 'Over 1 MiB',
      503: 'The service cannot take it now, or too many came from this address: deliver it again',
    },
    handle: async (request) => {
      const { processed, reason } = await webhooks.receive(provider, arrivalOf(request));
      return success(request.id, processed ? 'Webhook processed' : `Webhook not processed: ${reason}`, {
        processed,
      });
    },
  }));

const arrivalOf = ({ raw, headers, body }: FastifyRequest): Arrival => ({
  headers: (name) => headerValues(raw, name),
  body: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
  kept: Object.fromEntries(
    KEPT.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  ),
});
