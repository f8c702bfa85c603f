// Delivers the encoder's reports over HTTP with a signature.
import type { Secret } from '../auth/secret.ts';
import { sha256Concat } from '../auth/signature.ts';
import type { SpanStart } from '../platform/observability/trace-span.ts';
import { annotateSpan, spanned, traceHeaders } from '../platform/observability/tracing.ts';
import type { Callback, CallbackResult } from './encoder-report.ts';

/** `baseUrl` is a function, because a service on a dynamic port knows it only after listening. */
type CallbackSettings = { readonly baseUrl: () => string; readonly signingSecret: Secret };

const TIMEOUT_MS = 10_000;

const REPORT: SpanStart = {
  name: 'deliver report',
  kind: 'client',
  attributes: { 'http.request.method': 'POST' },
};

export const openHttpCallback = (settings: CallbackSettings): Callback => ({
  deliver: (body, signal) => spanned(REPORT, () => deliver(settings, body, signal)),
});

async function deliver(
  { baseUrl, signingSecret }: CallbackSettings,
  body: string,
  signal: AbortSignal,
): Promise<CallbackResult> {
  const response = await fetch(`${baseUrl()}/api/v1/webhooks/stream/onprem`, {
    method: 'POST',
    body,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'content-type': 'application/json',
      'x-onprem-signature': sha256Concat(Buffer.from(body), signingSecret).toString('hex'),
      ...traceHeaders(),
    },
  });
  annotateSpan({ 'http.response.status_code': response.status });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`the onprem webhook responded with status ${response.status}`);
  return parseResult(text);
}

const parseResult = (text: string): CallbackResult => ({
  processed: (JSON.parse(text) as { data: CallbackResult }).data.processed,
});
