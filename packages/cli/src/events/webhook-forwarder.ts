// Sends events to an endpoint of the developer as the service's webhooks: the same body, signature and order.
import { createHmac, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamedEvent } from '@mediary/client';
import { describeCause } from '../failure.ts';

export type Forwarded = {
  readonly event_id: string;
  readonly type: string;
  readonly asset_id: string;
  readonly attempts: number;
  /** Of the last response; null if there was none. */
  readonly status: number | null;
  readonly error: string | null;
  /** Whether the endpoint accepted the event with 2xx. */
  readonly accepted: boolean;
  readonly duration_ms: number;
};

export type ForwarderOptions = {
  readonly endpoint: string;
  /** `whsec_` and Base64. */
  readonly secret: string;
  readonly signal: AbortSignal;
  /** Milliseconds before each further attempt. */
  readonly retryDelaysMs: readonly number[];
};

/** An event of a stream, or one without a position. */
type ForwardableEvent = DistributiveOmit<StreamedEvent, 'position'> & { readonly position?: string };
type DistributiveOmit<Type, Name extends PropertyKey> = Type extends unknown ? Omit<Type, Name> : never;

const PREFIX = 'whsec_';
/** As long as the service waits for a response. */
const TIMEOUT_MS = 15_000;

export const createForwardSecret = (): string => PREFIX + randomBytes(32).toString('base64');

export const isForwardSecret = (text: string): boolean =>
  /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);

/** Sends the event until the endpoint accepts it, or all attempts have failed. */
export async function forwardEvent(event: ForwardableEvent, options: ForwarderOptions): Promise<Forwarded> {
  const started = performance.now();
  const { position: _, ...message } = event;
  const body = JSON.stringify(message);
  for (let attempts = 1; ; attempts += 1) {
    const answer = await post(event.id, body, options);
    const delay = options.retryDelaysMs[attempts - 1];
    if (answer.accepted || delay === undefined)
      return {
        event_id: event.id,
        type: event.type,
        asset_id: event.asset_id,
        attempts,
        ...answer,
        duration_ms: Math.round(performance.now() - started),
      };
    await sleep(delay, undefined, { signal: options.signal });
  }
}

type PostAnswer = Pick<Forwarded, 'status' | 'error' | 'accepted'>;

async function post(id: string, body: string, options: ForwarderOptions): Promise<PostAnswer> {
  const { endpoint, signal } = options;
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...sign(id, body, options) },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await response.body?.cancel();
    return { status: response.status, error: null, accepted: response.ok };
  } catch (error) {
    signal.throwIfAborted();
    return { status: null, error: describeCause(error), accepted: false };
  }
}

function sign(id: string, body: string, { secret }: ForwarderOptions): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
