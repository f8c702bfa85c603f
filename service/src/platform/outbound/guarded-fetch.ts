// HTTP client for untrusted URLs: checks every address and redirect, and limits every wait and size.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import packageJson from '../../../package.json' with { type: 'json' };
import { type AddressPolicy, type ParsedUrl, parseOutboundUrl, parseRedirect } from './address-policy.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { untilAborted } from '../concurrency/until-aborted.ts';
import { guardBody } from './guarded-body.ts';
import { type OutboundExchange, sendExchange } from './http-exchange.ts';
import { OutboundError } from './outbound-error.ts';
import { findInvalidHeader, type OutboundHeaders, withoutCredentials } from './outbound-headers.ts';
import { DEFAULT_OUTBOUND_LIMITS, type OutboundLimits } from './outbound-limits.ts';
import { resolveAllowed, resolveBySystem, type ResolveHost } from './resolve-host.ts';

export type OutboundRequest = {
  readonly method?: 'GET' | 'HEAD' | 'POST';
  readonly url: string;
  readonly headers?: OutboundHeaders;
  readonly body?: Buffer;
  readonly signal?: AbortSignal | undefined;
};

/** `url`: after redirects. `body` must be read or destroyed; it fails with an OutboundError. */
export type OutboundResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly url: string;
  readonly body: Readable;
};

/** Throws OutboundError. Returns responses of every status. */
export type OutboundFetch = (request: OutboundRequest) => Promise<OutboundResponse>;

export type OutboundOptions = AddressPolicy & {
  readonly limits?: Partial<OutboundLimits>;
  readonly resolve?: ResolveHost;
  /** PEM of the authorities to trust instead of Node's. */
  readonly ca?: string;
  /** Absent: each request opens a connection of its own. */
  readonly pool?: ConnectionPool;
  /** Whether a body may be compressed, which is refused where it would be stored so. */
  readonly allowsEncodedBody?: boolean;
};

type Hop = Pick<OutboundExchange, 'method' | 'url' | 'headers' | 'body'>;
type Client = Required<Pick<OutboundOptions, 'resolve'>> & {
  readonly policy: AddressPolicy;
  readonly limits: OutboundLimits;
  readonly ca: string | undefined;
  readonly pool: ConnectionPool | undefined;
  readonly allowsEncodedBody: boolean;
};

export function createGuardedFetch({
  allowPrivate,
  limits,
  resolve = resolveBySystem,
  ca,
  pool,
  allowsEncodedBody = false,
}: OutboundOptions): OutboundFetch {
  const client = {
    policy: { allowPrivate },
    limits: { ...DEFAULT_OUTBOUND_LIMITS, ...limits },
    resolve,
    ca,
    pool,
    allowsEncodedBody,
  };
  return (request) => send(request, client);
}

async function send(request: OutboundRequest, client: Client): Promise<OutboundResponse> {
  const firstHop = toHop(request, client.policy);
  const deadline = openDeadline(client.limits.totalMs, 'total', request.signal);
  try {
    const { hop, message } = await followRedirects(firstHop, client, deadline.signal);
    const body = guardBody(message, client.limits, deadline.signal);
    body.once('close', deadline.close);
    const problem = findHeadProblem(message, client, hop.method);
    if (problem) {
      body.destroy();
      throw problem;
    }
    return { status: message.statusCode ?? 0, headers: toHeaders(message), url: hop.url.href, body };
  } catch (error) {
    deadline.close();
    throw error;
  }
}

function toHop({ method = 'GET', url, headers = {}, body }: OutboundRequest, policy: AddressPolicy): Hop {
  const invalid = findInvalidHeader(headers);
  if (invalid !== undefined) throw new OutboundError('invalid_request', { detail: 'header' });
  return {
    method,
    url: getAllowed(parseOutboundUrl(url, policy)),
    headers: { 'user-agent': `Mediary/${packageJson.version}`, accept: '*/*', ...lowerCased(headers) },
    body,
  };
}

const lowerCased = (headers: OutboundHeaders): OutboundHeaders =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function getAllowed(parsed: ParsedUrl): URL {
  if ('refused' in parsed) throw new OutboundError('address_refused', { detail: parsed.refused });
  return parsed.url;
}

async function followRedirects(
  firstHop: Hop,
  client: Client,
  signal: AbortSignal,
): Promise<{ hop: Hop; message: IncomingMessage }> {
  const { limits, policy } = client;
  let hop = firstHop;
  for (let redirects = 0; ; redirects += 1) {
    const message = await sendHop(hop, client, signal);
    const location = limits.maxRedirects > 0 ? redirectOf(hop, message) : undefined;
    if (location === undefined) return { hop, message };
    message.destroy();
    if (redirects === limits.maxRedirects) throw new OutboundError('too_many_redirects');
    hop = toNextHop(hop, getAllowed(parseRedirect(location, { from: hop.url, policy })));
  }
}

async function sendHop(hop: Hop, client: Client, signal: AbortSignal): Promise<IncomingMessage> {
  const { limits, ca, pool } = client;
  const deadline = openDeadline(limits.connectMs, 'dns', signal);
  try {
    const addresses = await untilAborted(resolveAllowed(hop.url, client), deadline.signal);
    const agent = pool?.agentFor(hop.url, addresses);
    return await sendExchange({ ...hop, addresses, limits, ca, agent }, signal);
  } finally {
    deadline.close();
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Only requests without a body are repeated elsewhere. */
function redirectOf({ method }: Hop, { statusCode = 0, headers }: IncomingMessage): string | undefined {
  if (method === 'POST' || !REDIRECTS.has(statusCode) || headers.location === undefined) return undefined;
  // Node decodes headers as Latin-1; servers write UTF-8.
  return Buffer.from(headers.location, 'latin1').toString();
}

const toNextHop = (hop: Hop, url: URL): Hop => ({
  ...hop,
  url,
  headers: url.origin === hop.url.origin ? hop.headers : withoutCredentials(hop.headers),
});

/** Bodies are stored as they are, so an encoded body would be stored encoded. */
function findHeadProblem(
  { headers }: IncomingMessage,
  { limits: { maxBodyBytes }, allowsEncodedBody }: Client,
  method: string,
): OutboundError | undefined {
  if (method === 'HEAD') return undefined;
  if (!allowsEncodedBody && !isIdentity(headers['content-encoding']))
    return new OutboundError('invalid_response', { detail: 'content_encoding' });
  if ((headers['transfer-encoding'] ?? 'chunked').trim().toLowerCase() !== 'chunked')
    return new OutboundError('invalid_response', { detail: 'transfer_encoding' });
  return Number(headers['content-length'] ?? 0) > maxBodyBytes ? new OutboundError('too_large') : undefined;
}

const isIdentity = (encoding = 'identity'): boolean => /^\s*(?:identity)?\s*$/i.test(encoding);

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let index = 0; index < rawHeaders.length; index += 2)
    headers.append(rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '');
  return headers;
}

type Deadline = { readonly signal: AbortSignal; close(): void };

/**
 * A signal that aborts with an OutboundError: when time is up, or when the caller aborts. `phase` is the
 * detail of the timeout. The deadline must be closed, or its timer keeps running.
 */
function openDeadline(ms: number, phase: string, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(new OutboundError('timeout', { detail: phase })), ms);
  const onAbort = () => controller.abort(toAborted(parent?.reason));
  parent?.addEventListener('abort', onAbort, { once: true });
  if (parent?.aborted) onAbort();
  return {
    signal: controller.signal,
    close() {
      clearTimeout(timer);
      parent?.removeEventListener('abort', onAbort);
    },
  };
}

const toAborted = (reason: unknown): OutboundError =>
  reason instanceof OutboundError ? reason : new OutboundError('aborted', { cause: reason });
