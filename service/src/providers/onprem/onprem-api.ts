// Sends signed jobs to the operator's own encoder (ONPREM_ENCODER_URL).
import type { Secret } from '../../auth/secret.ts';
import { toPlainText } from '../../assets/text-limits.ts';
import type { SpanStart } from '../../platform/observability/trace-span.ts';
import { spanned, traceHeaders } from '../../platform/observability/tracing.ts';
import { type ClientLimits, sendRequest } from '../../platform/outbound/http-client.ts';
import type { EncodeOrder, EncoderAnswer, EncoderApi } from '../encoder-api.ts';
import { signEncoderRequest } from './onprem-signature.ts';

type EncoderSettings = {
  readonly url: string;
  readonly secret: Secret;
  readonly heartbeatMs: number;
  readonly limits?: ClientLimits;
};

const LIMITS: ClientLimits = { timeoutMs: 15_000, maxBytes: 64 * 1024 };
/** The encoder has the job of an earlier request. */
const CONFLICT = 409;
/** Another request may succeed, as after each 5xx. */
const TEMPORARY: readonly number[] = [408, 425, 429];
const MAX_JOB_URL = 2048;
const MAX_REASON = 300;

export function openEncoderApi({ url, secret, heartbeatMs, limits = LIMITS }: EncoderSettings): EncoderApi {
  const send = async (
    request: { readonly method: 'POST' | 'DELETE'; readonly url: string; readonly json: object },
    id: string,
  ) => {
    const body = Buffer.from(JSON.stringify(request.json));
    const response = await spanned(toSpan(request.method), () => {
      const headers = { ...signEncoderRequest({ id, at: new Date(), body }, secret), ...traceHeaders() };
      return sendRequest({ ...request, headers }, limits);
    });
    if ('failure' in response)
      throw new Error(`the encoder did not respond: ${response.failure}`, { cause: response.cause });
    if (response.status >= 500 || TEMPORARY.includes(response.status))
      throw new Error(`the encoder responded with status ${response.status}`);
    return response;
  };
  return {
    url,
    heartbeatMs,
    async start(order) {
      const { id, attempt } = order.asset;
      const response = await send(
        { method: 'POST', url, json: toBody(order, heartbeatMs) },
        requestId(id, attempt),
      );
      return toAnswer(url, response);
    },
    async cancel({ assetId, attempt, jobUrl }) {
      const json = { asset_id: assetId, attempt, job_url: jobUrl };
      await send({ method: 'DELETE', url: jobUrl, json }, `${requestId(assetId, attempt)}_cancel`);
    },
    async check() {
      const response = await sendRequest({ method: 'HEAD', url }, limits);
      return 'failure' in response ? undefined : response.status;
    },
  };
}

const toSpan = (method: string): SpanStart => ({
  name: 'send encoder job',
  kind: 'client',
  attributes: { 'http.request.method': method },
});

/** The same for repeated requests, so that the encoder can recognize them. */
const requestId = (assetId: string, attempt: number): string => `enc_${assetId}_${attempt}`;

const toBody = (
  { asset, sourceUrl, callbackUrl, deadline }: EncodeOrder,
  heartbeatMs: number,
): Readonly<Record<string, unknown>> => ({
  asset_id: asset.id,
  attempt: asset.attempt,
  mime_type: asset.mime_type,
  size_bytes: asset.size_bytes,
  checksum_sha256: asset.checksum_sha256,
  duration_ms: asset.duration_ms,
  width: asset.width,
  height: asset.height,
  source_url: sourceUrl,
  callback_url: callbackUrl,
  deadline: deadline.toISOString(),
  heartbeat_s: Math.floor(heartbeatMs / 1000),
});

type Response = { readonly status: number; readonly headers: Headers; readonly body: unknown };

function toAnswer(url: string, { status, headers, body }: Response): EncoderAnswer {
  if (status === CONFLICT || (status >= 200 && status < 300))
    return { jobUrl: parseJobUrl(url, headers.get('location')) };
  if (status >= 300 && status < 400)
    return { refused: `The encoder redirects (status ${status}): ONPREM_ENCODER_URL must be its final URL.` };
  const reason = parseReason(body);
  return { refused: `The encoder refused the job with status ${status}${reason && `: ${reason}`}` };
}

/** Only at the encoder's own origin, because signed requests are sent there. */
function parseJobUrl(url: string, location: string | null): string | null {
  const parsed = location === null ? null : URL.parse(location, url);
  const isOwn = parsed !== null && parsed.origin === new URL(url).origin && parsed.username === '';
  return isOwn && parsed.href.length <= MAX_JOB_URL ? parsed.href : null;
}

/** `message`, or `error` where that is a text. */
function parseReason(body: unknown): string {
  const { message, error } = (typeof body === 'object' && body !== null ? body : {}) as {
    message?: unknown;
    error?: unknown;
  };
  return toPlainText(message, MAX_REASON) ?? toPlainText(error, MAX_REASON) ?? '';
}
