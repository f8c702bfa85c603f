// Checks whether web pages of an origin may send a request, and read its response.
import type { ProbeReply, ProbeRequest, Send } from './probe.ts';
import { describeProbe, headerOf } from './reply.ts';

export type CrossOriginRequest = {
  readonly path: string;
  readonly method: ProbeRequest['method'];
  /** Names of the headers that clients send, in lower case. */
  readonly headers: readonly string[];
  /** Where the response itself is read; `path` if it is the same. */
  readonly readPath?: string;
  /** Names of the response headers that clients read, in lower case. */
  readonly exposed: readonly string[];
};

/** What a browser would refuse, in words; undefined: nothing. */
type CrossOriginTrouble = { readonly text: string; readonly fix: string };

const PROXY_FIX =
  'Let the proxy pass OPTIONS on, and neither add nor remove Access-Control-… headers: the service answers ' +
  'by CORS_ORIGINS.';

export async function findCrossOriginTrouble(
  send: Send,
  origin: string,
  request: CrossOriginRequest,
): Promise<CrossOriginTrouble | undefined> {
  const { path, method, headers, readPath = path } = request;
  const preflight = await send({
    method: 'OPTIONS',
    path,
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': headers.join(', '),
    },
  });
  if ('failure' in preflight) return { text: describeProbe(preflight), fix: PROXY_FIX };
  const trouble = findPreflightTrouble(preflight, origin, request);
  if (trouble) return trouble;
  const read = await send({
    method: method === 'GET' ? 'GET' : 'HEAD',
    path: readPath,
    headers: { origin },
  });
  if ('failure' in read) return { text: describeProbe(read), fix: PROXY_FIX };
  return findOriginTrouble(read, origin) ?? findHidden(read, request);
}

function findPreflightTrouble(
  reply: ProbeReply,
  origin: string,
  { method, headers }: CrossOriginRequest,
): CrossOriginTrouble | undefined {
  const originTrouble = findOriginTrouble(reply, origin);
  if (reply.status >= 300)
    return { text: `the preflight request is answered ${reply.status}`, fix: PROXY_FIX };
  if (originTrouble) return originTrouble;
  if (!allows(listOf(reply, 'access-control-allow-methods'), method.toLowerCase()))
    return { text: `${method} is not allowed`, fix: PROXY_FIX };
  const allowed = listOf(reply, 'access-control-allow-headers');
  const missing = headers.filter((name) => !allows(allowed, name));
  return missing.length === 0
    ? undefined
    : { text: `the request headers ${missing.join(', ')} are not allowed`, fix: PROXY_FIX };
}

function findOriginTrouble(reply: ProbeReply, origin: string): CrossOriginTrouble | undefined {
  const allowed = headerOf(reply, 'access-control-allow-origin');
  if (allowed === origin || allowed === '*') return undefined;
  if (allowed === undefined)
    return {
      text: 'Access-Control-Allow-Origin is missing',
      fix: `Add ${origin} to CORS_ORIGINS, and let the proxy pass Origin and Access-Control-… headers on.`,
    };
  return allowed.includes(',')
    ? { text: 'Access-Control-Allow-Origin is there twice', fix: PROXY_FIX }
    : { text: `Access-Control-Allow-Origin is ${allowed}`, fix: `Add ${origin} to CORS_ORIGINS.` };
}

function findHidden(reply: ProbeReply, { exposed }: CrossOriginRequest): CrossOriginTrouble | undefined {
  const shown = listOf(reply, 'access-control-expose-headers');
  const hidden = exposed.filter((name) => !allows(shown, name));
  return hidden.length === 0
    ? undefined
    : { text: `the response headers ${hidden.join(', ')} are not exposed`, fix: PROXY_FIX };
}

const allows = (listed: readonly string[], name: string): boolean =>
  listed.includes(name) || listed.includes('*');

const listOf = (reply: ProbeReply, name: string): string[] =>
  (headerOf(reply, name) ?? '').split(',').map((item) => item.trim().toLowerCase());
