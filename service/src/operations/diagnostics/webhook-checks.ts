// Asks webhook endpoints for a response, as far as a request without a signature can.
import type { Database } from '../../platform/postgres/database.ts';
import type { OutboundFetch } from '../../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { listWebhookEndpoints } from './diagnostics.sql.ts';
import type { Finding } from './finding.ts';
import { judgePaused, judgeReachability } from './webhook-rules.ts';

type WebhookNeeds = { readonly db: Database; readonly fetchWebhook: OutboundFetch };

const MAX_ENDPOINTS = 20;
/** Name lookups share the threads of file access. */
const MAX_RUNNING = 4;

export async function checkWebhookEndpoints(needs: WebhookNeeds): Promise<Finding[]> {
  const rows = await listWebhookEndpoints(needs.db, MAX_ENDPOINTS);
  const enabled = rows.filter(({ status }) => status === 'enabled');
  const paused = rows.filter(({ status }) => status === 'paused');
  return [
    judgeReachability({ probed: await probeAll(needs, enabled), enabled: enabled[0]?.total ?? 0 }),
    judgePaused({ endpoints: paused, paused: paused[0]?.total ?? 0 }),
  ];
}

type Endpoint = { readonly id: string; readonly url: string };

async function probeAll({ fetchWebhook }: WebhookNeeds, endpoints: readonly Endpoint[]) {
  const failures = new Map<string, string | undefined>();
  const waiting = endpoints.values();
  const work = async (): Promise<void> => {
    // The workers share one iterator.
    for (const { id, url } of waiting) failures.set(id, await findFailure(fetchWebhook, url));
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
