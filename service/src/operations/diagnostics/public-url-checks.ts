// Sends requests through the public URL to this deployment itself, and judges what the proxy does to them.
import { randomUUID } from 'node:crypto';
import { type EchoReport, STREAM_FILE_BYTES } from '@mediary/contract/schemas/diagnostics';
import { type ProbeRequest, sendProbe } from '../../platform/outbound/probe-request.ts';
import type { OperationsContext } from '../context.ts';
import { judgeCors, PREFLIGHT } from './cross-origin.ts';
import { isProofOf, issueDiagnosticsToken } from './diagnostics-token.ts';
import { type Finding, notChecked } from './finding.ts';
import { isStatus, type HttpProbeResult } from './http-probe-result.ts';
import {
  FIRST_PART_BYTES,
  judgeBodyLimit,
  judgeMethods,
  judgeRanges,
  judgeRequestBuffering,
  judgeResponseBuffering,
  PAUSE_MS,
  RANGE,
} from './proxy-transfers.ts';
import { findEcho, judgeForwarded, judgePublicUrl, judgeUnreachable } from './public-url.ts';

/** Requests may wait in a proxy, and TLS needs time, but operators wait too. */
const TIMEOUT_MS = 5000;
const TOKEN_SECONDS = 60;
const ECHO = '/api/v1/uploads/diagnostics/echo';
const FILE = '/api/v1/downloads/diagnostics/stream?type=bytes';

type Send = (
  request: Omit<ProbeRequest, 'url' | 'timeoutMs'> & { readonly path: string; readonly timeoutMs?: number },
) => Promise<HttpProbeResult>;

type Loop = {
  readonly send: Send;
  readonly requestId: string;
  readonly findEcho: (result: HttpProbeResult) => EchoReport | undefined;
};

/** One nonce for all requests of a run. */
function openLoop({ service, urlSecrets, now }: OperationsContext): Loop {
  const nonce = randomUUID();
  const expires = Math.floor(now().getTime() / 1000) + TOKEN_SECONDS;
  const own = {
    'x-diagnostics-token': issueDiagnosticsToken(urlSecrets, { nonce, expires }),
    'x-request-id': nonce,
  };
  const isProof = (proof: string) => isProofOf(urlSecrets, nonce, proof);
  return {
    requestId: nonce,
    findEcho: (result) => findEcho(result, { isProof }),
    send: ({ path, headers, timeoutMs = TIMEOUT_MS, ...request }) =>
      sendProbe({
        ...request,
        timeoutMs,
        url: `${service.publicBaseUrl()}${path}`,
        headers: { ...own, ...headers },
      }),
  };
}

const NEED_THE_LOOP = [
  'public_url.forwarded_headers',
  'public_url.methods',
  'public_url.body_limit',
  'public_url.request_buffering',
  'public_url.response_buffering',
  'public_url.ranges',
  'public_url.cors',
];

export async function checkPublicUrl(ctx: OperationsContext): Promise<Finding[]> {
  const { service, urlSecrets, settings } = ctx;
  const baseUrl = service.publicBaseUrl();
  const loop = openLoop(ctx);
  const result = await loop.send({ method: 'POST', path: ECHO, ...wholeBody([new Uint8Array(100)]) });
  const isProof = (proof: string) => isProofOf(urlSecrets, loop.requestId, proof);
  const first = judgePublicUrl(result, { baseUrl, requestId: loop.requestId, isProof });
  const echo = loop.findEcho(result);
  if (!echo) return [first, ...judgeUnreachable(NEED_THE_LOOP)];
  const hasTrustProxy = settings.trustProxy !== undefined;
  const hasAddressLimit = settings.ratePerAddress !== undefined;
  return [
    first,
    judgeForwarded(echo, { baseUrl, hasTrustProxy, hasAddressLimit }),
    await checkMethods(loop),
    ...(await checkBodies(ctx, loop)),
    await checkEvents(loop),
    await checkRanges(loop),
    ...(await checkOrigins(ctx, loop)),
  ];
}

async function checkMethods({ send }: Loop): Promise<Finding> {
  const probes = [];
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const)
    probes.push({ method, result: await send({ method, path: ECHO }) });
  return judgeMethods(probes);
}

const wholeBody = (parts: readonly Uint8Array[]): Pick<ProbeRequest, 'body'> => ({
  body: {
    announcedBytes: parts.reduce((total, { byteLength }) => total + byteLength, 0),
    parts: parts.map((bytes, index) => ({ afterMs: index === 0 ? 0 : PAUSE_MS, bytes })),
  },
});

const SENT_BYTES = 2 * 1024 ** 2;
/** Proxies accept it, and buffer it if they buffer. */
const SMALL_BYTES = 64 * 1024;
/** A proxy that buffers requests never answers an announced body, so this is how long to wait for it. */
const ANNOUNCED_TIMEOUT_MS = 2000;

async function checkBodies({ settings }: OperationsContext, loop: Loop): Promise<Finding[]> {
  const { maxUploadBytes, s3 } = settings;
  const sentBytes = Math.max(2 * FIRST_PART_BYTES, Math.min(SENT_BYTES, maxUploadBytes));
  const sent = await sendSlowly(loop, sentBytes);
  const announced = await announce(loop, maxUploadBytes);
  const acceptedBytes = isStatus(announced, 413) ? await findAcceptedBytes(loop, maxUploadBytes) : undefined;
  return [
    judgeBodyLimit(
      { announced, sent },
      { maxUploadBytes, sentBytes, acceptedBytes, isDirect: s3?.direct === true },
    ),
    judgeRequestBuffering(loop.findEcho(isStatus(sent, 413) ? await sendSlowly(loop, SMALL_BYTES) : sent)),
  ];
}

const sendSlowly = ({ send }: Loop, bytes: number): Promise<HttpProbeResult> =>
  send({
    method: 'POST',
    path: ECHO,
    ...wholeBody([new Uint8Array(FIRST_PART_BYTES), new Uint8Array(bytes - FIRST_PART_BYTES)]),
  });

/** Sends the head and little more: the service responds to the head. */
const announce = ({ send }: Loop, announcedBytes: number): Promise<HttpProbeResult> =>
  send({
    method: 'POST',
    path: `${ECHO}?respond=head`,
    body: { announcedBytes, parts: [{ afterMs: 0, bytes: new Uint8Array(1) }] },
    timeoutMs: ANNOUNCED_TIMEOUT_MS,
  });

const MIB = 1024 ** 2;
/** Limits that proxies and hosts have by default. */
const COMMON_LIMITS = [1 * MIB, 10 * MIB, 100 * MIB, 1024 * MIB];

/** The largest of the common limits that passes. */
async function findAcceptedBytes(loop: Loop, maxUploadBytes: number): Promise<number | undefined> {
  for (const bytes of COMMON_LIMITS.filter((limit) => limit < maxUploadBytes).reverse())
    if (!isStatus(await announce(loop, bytes), 413)) return bytes;
  return undefined;
}

const EVENTS = { events: 3, intervalMs: 250 };

async function checkEvents({ send }: Loop): Promise<Finding> {
  const { events, intervalMs } = EVENTS;
  const path = `/api/v1/admin/diagnostics/stream?chunks=${events}&interval_ms=${intervalMs}`;
  return judgeResponseBuffering(await send({ method: 'GET', path }), EVENTS);
}

async function checkRanges({ send }: Loop): Promise<Finding> {
  const part = await send({ method: 'GET', path: FILE, headers: { range: RANGE.header } });
  const head = await send({ method: 'HEAD', path: FILE });
  return judgeRanges({ part, head }, STREAM_FILE_BYTES);
}

const MAX_ORIGINS = 3;

async function checkOrigins({ settings }: OperationsContext, { send }: Loop): Promise<Finding[]> {
  const [first, ...more] = settings.corsOrigins
    .slice(0, MAX_ORIGINS)
    .map((origin) => (origin === '*' ? 'https://app.example.com' : origin));
  if (first === undefined)
    return [
      notChecked(
        'public_url.cors',
        'CORS_ORIGINS is not set: only back ends use the API.',
        'Set CORS_ORIGINS if web pages upload.',
      ),
    ];
  const findings: Finding[] = [];
  for (const origin of [first, ...more]) {
    const preflight = await send({
      method: 'OPTIONS',
      path: ECHO,
      headers: {
        origin,
        'access-control-request-method': PREFLIGHT.method,
        'access-control-request-headers': PREFLIGHT.headers.join(', '),
      },
    });
    findings.push(
      judgeCors(origin, {
        preflight,
        actual: await send({ method: 'HEAD', path: FILE, headers: { origin } }),
      }),
    );
  }
  return findings;
}
