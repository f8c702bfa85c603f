// Verifies webhooks of the service, in the form of Standard Webhooks.
import type { AssetEvent, EventMessage } from '../api/events.ts';
import { fromBase64 } from '../encoding.ts';
import { MediaryError } from '../errors.ts';
import type { UnknownEvent } from '../events.ts';

/** `webhookEndpoints.test` sends it; it has no asset. */
type TestEvent = Pick<AssetEvent, 'id' | 'at'> &
  Record<'asset_id' | 'owner_user_id' | 'attempt' | 'asset', null> & {
    type: 'webhook.test';
    data: Record<string, unknown>;
  };

export type WebhookEvent = EventMessage | UnknownEvent | TestEvent;

type HmacKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export type VerifyWebhookOptions = {
  /** The body as it arrived. Parsed and serialized JSON has other bytes. */
  payload: string | Uint8Array;
  /** `request.headers` of Fetch, Node or any framework. */
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** `whsec_…`, one or several: any of them may have signed. */
  secrets: string | readonly string[];
  /** Seconds by which the time of the signature may differ from now. Default 300. */
  toleranceS?: number | undefined;
};

type Reason = 'missing' | 'malformed' | 'expired' | 'bad_signature' | 'invalid_payload';

const refuse = (reason: Reason, message: string): MediaryError =>
  new MediaryError(message, { errorCode: 'INVALID_SIGNATURE', details: { reason } });

/**
 * Returns the event of a webhook whose signature is valid. Answer 2xx within 15 s; the same `id` may arrive
 * again. Events of one asset arrive in their order.
 *
 * Errors: `MediaryError` INVALID_SIGNATURE with the reason `missing`, `malformed`, `expired`,
 * `bad_signature` or `invalid_payload`; `TypeError` for a secret that is none.
 *
 * @example
 * const event = await verifyWebhook({ payload: await request.text(), headers: request.headers, secrets });
 */
export async function verifyWebhook({
  payload,
  headers,
  secrets,
  toleranceS = 300,
}: VerifyWebhookOptions): Promise<WebhookEvent> {
  const [id, time, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    readHeader(headers, name),
  );
  if (!id || !time || !signatures) throw refuse('missing', 'The headers of the signature are missing.');
  if (!/^\d{1,12}$/.test(time)) throw refuse('malformed', 'The timestamp is not a number.');
  if (Math.abs(Date.now() / 1000 - Number(time)) > toleranceS)
    throw refuse('expired', 'The signature is too old, or from the future.');
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload;
  const signed = concat(new TextEncoder().encode(`${id}.${time}.`), body);
  const keys = await Promise.all([secrets].flat().map(importSecret));
  if (!(await isSigned(signed, signatures, keys)))
    throw refuse('bad_signature', 'The signature is not valid.');
  return parse(body);
}

function readHeader(headers: VerifyWebhookOptions['headers'], name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const found = Object.keys(headers).find((other) => other.toLowerCase() === name);
  const value = found === undefined ? undefined : headers[found];
  return typeof value === 'string' ? value : value?.join(' ');
}

function concat(head: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return bytes;
}

async function importSecret(secret: string): Promise<HmacKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes?.length) throw new TypeError('A webhook secret is `whsec_` and Base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
}

/** Web Crypto compares in constant time. */
async function isSigned(signed: Uint8Array<ArrayBuffer>, header: string, keys: readonly HmacKey[]) {
  const signatures = header
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .flatMap((part) => fromBase64(part.slice(3)) ?? []);
  const checks = keys.flatMap((key) =>
    signatures.map((signature) => crypto.subtle.verify('HMAC', key, signature, signed)),
  );
  return (await Promise.all(checks)).includes(true);
}

function parse(body: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw refuse('invalid_payload', 'The payload is not JSON.');
  }
}
