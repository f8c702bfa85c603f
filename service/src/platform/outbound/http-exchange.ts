// Sends one HTTP request to addresses that were checked before, and waits for the head of the response.
import type { LookupAddress } from 'node:dns';
import { type Agent, type ClientRequest, type IncomingMessage, request as sendHttp } from 'node:http';
import { request as sendHttps, type RequestOptions } from 'node:https';
import type { LookupFunction, TcpNetConnectOpts } from 'node:net';
import { OutboundError } from './outbound-error.ts';
import type { OutboundHeaders } from './outbound-headers.ts';
import type { OutboundLimits } from './outbound-limits.ts';

export type OutboundExchange = {
  readonly method: string;
  readonly url: URL;
  readonly headers: OutboundHeaders;
  readonly body: Buffer | undefined;
  readonly addresses: readonly LookupAddress[];
  readonly limits: OutboundLimits;
  /** PEM; undefined: the authorities that Node trusts. */
  readonly ca: string | undefined;
  /** Whose connections lead to `addresses`; undefined: a connection of its own. */
  readonly agent?: Agent | undefined;
};

type Phase = 'connect' | 'tls' | 'head';

/** Node's 250 ms are too short for a distant host that has several addresses. */
const ATTEMPT_TIMEOUT_MS = 2500;

/** `signal` must abort with an OutboundError. It also ends the request, but not the body of the response. */
export function sendExchange(exchange: OutboundExchange, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { url, body, limits } = exchange;
    if (signal.aborted) return reject(signal.reason);
    const request = (url.protocol === 'https:' ? sendHttps : sendHttp)(url, toOptions(exchange));
    const onAbort = () => request.destroy(signal.reason);
    const stopWaiting = trackPhases(request, limits);
    const finish = () => {
      stopWaiting();
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    const fail = (error: NodeJS.ErrnoException) => {
      const phase = stopWaiting();
      finish();
      // The server had closed a pooled connection when the request was sent.
      if (request.reusedSocket && isReset(error) && !signal.aborted)
        return resolve(sendExchange({ ...exchange, agent: undefined }, signal));
      reject(toFailure(error, phase));
    };
    request.on('error', fail);
    request.once('response', (response) => {
      finish();
      // Node reports some errors of the body here too; the response reports all of them.
      request.off('error', fail).on('error', () => undefined);
      resolve(response);
    });
    // Without a response and without an error, as after a refused upgrade.
    request.once('close', () => {
      finish();
      reject(new OutboundError('connection_lost'));
    });
    request.end(body);
  });
}

/** Node passes all options to the socket. */
type Options = RequestOptions &
  Pick<TcpNetConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>;

const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === 'ECONNRESET' || code === 'EPIPE';

const toOptions = ({ method, headers, addresses, limits, ca, agent }: OutboundExchange): Options => ({
  method,
  headers: { ...headers, 'accept-encoding': 'identity' },
  // Node's own pool could lead to addresses of an earlier lookup.
  agent: agent ?? false,
  lookup: lookupAmong(addresses),
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: ATTEMPT_TIMEOUT_MS,
  maxHeaderSize: limits.maxHeaderBytes,
  // Explicit, so that no environment variable disables it.
  rejectUnauthorized: true,
  ...(ca !== undefined && { ca }),
});

/** Answers with the checked addresses; the name is used for the Host header and the certificate only. */
const lookupAmong =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else done(null, first?.address ?? '', first?.family);
  };

/** Limits each phase. The returned function stops that and tells the current phase. */
function trackPhases(request: ClientRequest, { connectMs, headMs }: OutboundLimits): () => Phase {
  let phase: Phase = 'connect';
  const expire = () => request.destroy(new OutboundError('timeout', { detail: phase }));
  let timer = setTimeout(expire, connectMs);
  const waitForHead = () => {
    phase = 'head';
    clearTimeout(timer);
    timer = setTimeout(expire, headMs);
  };
  request.once('socket', (socket) => {
    if (request.reusedSocket) return waitForHead();
    const isSecure = 'encrypted' in socket;
    socket.once('connect', () => {
      if (isSecure) phase = 'tls';
      else waitForHead();
    });
    if (isSecure) socket.once('secureConnect', waitForHead);
  });
  return () => {
    clearTimeout(timer);
    return phase;
  };
}

function toFailure(cause: NodeJS.ErrnoException, phase: Phase): OutboundError {
  if (cause instanceof OutboundError) return cause;
  const details = { detail: cause.code, cause };
  if (phase === 'connect') return new OutboundError('connect_failed', details);
  if (phase === 'tls') return new OutboundError('tls_failed', details);
  return new OutboundError(cause.code?.startsWith('HPE_') ? 'invalid_response' : 'connection_lost', details);
}
