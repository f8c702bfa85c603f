// Delivers the encoder's reports over HTTP with a signature.
import type { Secret } from '../auth/secret.ts';
import { sha256Concat } from '../auth/signature.ts';
import type { Callback, CallbackResult } from './encoder-report.ts';

/** `baseUrl` is a function, because a service on a dynamic port knows it only after listening. */
type CallbackSettings = { readonly baseUrl: () => string; readonly signingSecret: Secret };

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
    const text = await response.text();
    if (response.status !== 200)
      throw new Error(`the onprem webhook responded with status ${response.status}`);
    return parseResult(text);
  },
});

const parseResult = (text: string): CallbackResult => ({
  processed: (JSON.parse(text) as { data: CallbackResult }).data.processed,
});
