// Asks webhook endpoints for a response, as far as a request without a signature can.
import { createGuardedFetch, type OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import type { OperationsContext } from '../context.ts';
import { listWebhookEndpoints } from './diagnostics.sql.ts';
import type { Finding } from '@mediary/checks/finding';
import { judgePaused, judgeReachability } from './webhook-rules.ts';

/** Limits for one webhook endpoint; all of them must respond before the deadline of the check. */
const LIMITS = { connectMs: 1500, headMs: 2000, totalMs: 4000, maxRedirects: 0 };

const MAX_ENDPOINTS = 20;
/** Name lookups share the threads of file access. */
const MAX_RUNNING = 4;

export async function checkWebhookEndpoints(ctx: OperationsContext): Promise<Finding[]> {
  const rows = await listWebhookEndpoints(ctx.db, MAX_ENDPOINTS);
  const enabled = rows.filter(({ status }) => status === 'enabled');
  const fetch = createGuardedFetch({
    allowPrivate: ctx.settings.outboundAllowPrivate.includes('webhooks'),
    allowsEncodedBody: true,
    limits: LIMITS,
  });
  const paused = rows.filter(({ status }) => status === 'paused');
  return [
    judgeReachability({ probed: await probeAll(fetch, enabled), enabled: enabled[0]?.total ?? 0 }),
    judgePaused({ endpoints: paused, paused: paused[0]?.total ?? 0 }),
  ];
}

type Endpoint = { readonly id: string; readonly url: string };

async function probeAll(fetch: OutboundFetch, endpoints: readonly Endpoint[]) {
  const failures = new Map<string, string | undefined>();
  const waiting = endpoints.values();
  const work = async (): Promise<void> => {
    // The workers share one iterator.
    for (const { id, url } of waiting) failures.set(id, await findFailure(fetch, url));
  };
  await Promise.all(Array.from({ length: MAX_RUNNING }, work));
  return endpoints.map(({ id, url }) => ({ id, url, failure: failures.get(id) }));
}

/** Responses of every status count: receivers refuse requests without a signature. */
async function findFailure(fetch: OutboundFetch, url: string): Promise<string | undefined> {
  try {
    const { body } = await fetch({ method: 'HEAD', url });
    body.destroy();
    return undefined;
  } catch (error) {
    if (error instanceof OutboundError) return error.message;
    throw error;
  }
}
