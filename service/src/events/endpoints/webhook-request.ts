// Sends signed requests to webhook endpoints and describes the results (contract B8).
import type { Readable } from 'node:stream';
import type { DeliveryAttempt } from '@mediary/contract/schemas/webhook-endpoints';
import type { Secret } from '../../auth/secret.ts';
import { parseRetryAfter } from '../../platform/outbound/http-client.ts';
import { createSingleFlight } from '../../platform/concurrency/single-flight.ts';
import { annotateSpan, traceHeaders } from '../../platform/observability/tracing.ts';
import { createConnectionPool } from '../../platform/outbound/connection-pool.ts';
import { createGuardedFetch, type OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { resolveBySystem } from '../../platform/outbound/resolve-host.ts';
import type { EventsContext } from '../context.ts';
import { MAX_RETRY_AFTER_S } from './retry-plan.ts';
import { signWebhook } from './webhook-signature.ts';

/** The connections of this process to webhook endpoints. */
export type WebhookClient = { readonly fetch: OutboundFetch; readonly close: () => void };

/** More than a process can send concurrently. */
const MAX_LOOKUPS = { maxConcurrent: 2000 };
const POOL_LIMITS = { idleMs: 10_000, maxIdlePerOrigin: 2 };

export function createWebhookClient({ settings }: EventsContext): WebhookClient {
  const { timeoutMs } = settings.webhookEndpoints;
  const pool = createConnectionPool(POOL_LIMITS);
  // A name server that does not respond occupies one thread for each host, not for each request.
  const lookUpOnce = createSingleFlight(MAX_LOOKUPS);
  const fetch = createGuardedFetch({
    allowPrivate: settings.outboundAllowPrivate.includes('webhooks'),
    pool,
    resolve: (host) => lookUpOnce(host, () => resolveBySystem(host)),
    allowsEncodedBody: true,
    limits: {
      connectMs: timeoutMs,
      headMs: timeoutMs,
      totalMs: timeoutMs,
      maxBodyBytes: Number.MAX_SAFE_INTEGER,
      maxRedirects: 0,
    },
  });
  return { fetch, close: pool.close };
}

type WebhookRequest = {
  /** Id of the event. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
  readonly secrets: readonly Secret[];
  readonly signal?: AbortSignal | undefined;
};

export type WebhookResult = { readonly attempt: DeliveryAttempt; readonly retryAfterMs: number | undefined };

/** Throws only if `signal` aborts. */
export async function sendWebhook(
  { clocks }: EventsContext,
  { fetch }: WebhookClient,
  { id, url, body, secrets, signal }: WebhookRequest,
): Promise<WebhookResult> {
  const at = clocks.now();
  const begin = performance.now();
  const describe = (result: Partial<DeliveryAttempt>): DeliveryAttempt => ({
    at: at.toISOString(),
    status: null,
    latency_ms: Math.round(performance.now() - begin),
    response_head: null,
    error: null,
    ...result,
  });
  // Receivers would refuse a request without a signature.
  if (secrets.length === 0)
    return { attempt: describe({ error: 'secret_unreadable' }), retryAfterMs: undefined };
  const headers = {
    'content-type': 'application/json',
    ...traceHeaders(),
    ...signWebhook({ id, at, body }, secrets),
  };
  try {
    const response = await fetch({ method: 'POST', url, headers, body: Buffer.from(body), signal });
    annotateSpan({ 'http.response.status_code': response.status });
    const attempt = describe({ status: response.status });
    const seconds = parseRetryAfter(response.headers, at, MAX_RETRY_AFTER_S);
    return {
      attempt: { ...attempt, response_head: await readHead(response.body) },
      retryAfterMs: seconds === undefined ? undefined : seconds * 1000,
    };
  } catch (error) {
    if (!(error instanceof OutboundError) || error.reason === 'aborted') throw error;
    return { attempt: describe({ error: error.message }), retryAfterMs: undefined };
  }
}

const MAX_HEAD_BYTES = 1024;
/** The status decides; the body is only for people. */
const HEAD_TIMEOUT_MS = 2000;

/** Reads a body that ends in time to its end, so that the connection can be used again. */
async function readHead(body: Readable): Promise<string> {
  const timer = setTimeout(() => body.destroy(), HEAD_TIMEOUT_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_HEAD_BYTES) break;
    }
  } catch {
    // The connection ended within the body.
  } finally {
    clearTimeout(timer);
  }
  const head = Buffer.concat(chunks).subarray(0, MAX_HEAD_BYTES).toString('utf8');
  // PostgreSQL cannot store null characters.
  return head.replaceAll('\0', '\ufffd');
}
