// Reports what arrived of a request: body, headers of proxies, addresses.
import { type EchoReport, MAX_ECHO_BYTES } from '@mediary/contract/schemas/admin/diagnostics';
import type { IncomingHttpHeaders } from 'node:http';
import { badRequest, payloadTooLarge, type ServiceError, unauthorized } from '../../platform/http/errors.ts';
import type { OperationsContext } from '../context.ts';
import { deploymentOf, parseDiagnosticsToken, signProof } from './diagnostics-token.ts';
import { measureBody, UNREAD, type UnreadBody } from './measured-body.ts';

export type EchoedRequest = Pick<
  EchoReport,
  'method' | 'path' | 'protocol' | 'peer_address' | 'client_address'
> & {
  /** Undefined for operators. */
  readonly nonce: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: AsyncIterable<Uint8Array>;
};

/** Returns the nonce of a token. Throws UNAUTHORIZED. */
export function getNonce({ urlSecrets, now }: OperationsContext, text: string): string {
  const token = parseDiagnosticsToken(urlSecrets, text);
  const field = 'X-Diagnostics-Token';
  if (!token)
    throw unauthorized('The diagnostics token is not valid', { reason: 'invalid_credential', field });
  if (token.expires * 1000 <= now().getTime())
    throw unauthorized('The diagnostics token has expired', { reason: 'expired', field });
  return token.nonce;
}

/** Longer bodies are refused, so that one request cannot hold a place for long. */
const MAX_BODY_MS = 60_000;
const LIMITS = { maxBytes: MAX_ECHO_BYTES, maxMs: MAX_BODY_MS, clock: () => performance.now() };

/** Reads the whole body. */
export async function echoBody(ctx: OperationsContext, request: EchoedRequest): Promise<EchoReport> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_ECHO_BYTES) throw REFUSALS.too_large;
  const measured = await measureBody(request.body, LIMITS);
  if ('refused' in measured) throw REFUSALS[measured.refused];
  return { ...echoHead(ctx, request), ...measured };
}

const REFUSALS: Readonly<Record<UnreadBody['refused'], ServiceError>> = {
  too_large: payloadTooLarge(`The body is too large. At most ${MAX_ECHO_BYTES} bytes are allowed.`, {
    limit: MAX_ECHO_BYTES,
  }),
  too_slow: badRequest(`The body did not arrive within ${MAX_BODY_MS / 1000} seconds`, {
    reason: 'request_too_slow',
    window_s: MAX_BODY_MS / 1000,
  }),
  cut_short: badRequest('The connection ended before the whole body arrived', { reason: 'body_cut_short' }),
};

const SHOWN_HEADERS: readonly string[] = [
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'forwarded',
  'host',
  'transfer-encoding',
  'via',
  'x-real-ip',
];

const isShown = (name: string): boolean => SHOWN_HEADERS.includes(name) || name.startsWith('x-forwarded-');

/** Without reading the body. */
export function echoHead({ urlSecrets, service }: OperationsContext, request: EchoedRequest): EchoReport {
  const { nonce, headers, body: _, ...seen } = request;
  const length = headers['content-length'];
  const isEmpty = (length ?? '0') === '0' && headers['transfer-encoding'] === undefined;
  return {
    deployment: deploymentOf(urlSecrets),
    version: service.version,
    nonce: nonce ?? null,
    proof: nonce === undefined ? null : signProof(urlSecrets, nonce),
    ...seen,
    headers: Object.fromEntries(
      Object.entries(headers)
        .filter(([name]) => isShown(name))
        .map(([name, value]) => [name, String(value)]),
    ),
    content_length: length === undefined ? null : Number(length),
    transfer_encoding: headers['transfer-encoding'] ?? null,
    ...UNREAD,
    is_complete: isEmpty,
  };
}
