// Delivers the encoder's reports over HTTP, signed with the secret that the service and its own encoder share.
import type { Secret } from '../auth/secret.ts';
import { sha256Concat } from '../auth/signature.ts';
import type { Callback, CallbackResult } from './callback.ts';

/** `baseUrl` is asked for at each delivery: a service that picks its own port knows it only once it listens. */
export type CallbackSettings = { readonly baseUrl: () => string; readonly signingSecret: Secret };

const TIMEOUT_MS = 10_000;

export const openHttpCallback = ({ baseUrl, signingSecret }: CallbackSettings): Callback => ({
  async deliver(body, signal) {
    const response = await fetch(`${baseUrl()}/api/v1/webhooks/stream/onprem`, {
      method: 'POST',
      body,
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        'content-type': 'application/json',
        'x-onprem-signature': sha256Concat(Buffer.from(body), signingSecret).toString('hex'),
      },
    });
    const answer = await response.text();
    if (response.status !== 200) throw new Error(`the onprem door answered ${response.status}`);
    return toldBy(answer);
  },
});

const toldBy = (answer: string): CallbackResult => ({
  processed: (JSON.parse(answer) as { data: CallbackResult }).data.processed,
});
