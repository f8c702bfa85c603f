// Checks of a proxy in front of the service: limits and buffering, by what arrives on the other side.
import { type Exchange, readData, type Send } from './exchange.ts';
import { type Finding, notChecked, ok, problem, warning } from './finding.ts';
import { formatBytes } from '../text.ts';

type ProxyTarget = {
  readonly url: string;
  readonly operatorKey: string;
  /** Size of the body that is really sent. */
  readonly bodyBytes: number;
};

type EchoReport = {
  readonly body_bytes: number;
  readonly chunks: readonly { readonly at_ms: number }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly client_address: string;
  readonly peer_address: string;
};

const ECHO = '/api/v1/uploads/diagnostics/echo';
const STREAM = '/api/v1/downloads/diagnostics/stream';
const CHUNKS = 4;
const GAP_MS = 250;
const SPREAD_MS = (CHUNKS - 1) * GAP_MS;
const SLOW_CHUNK = Buffer.alloc(1024);
const LARGE_CHUNK = Buffer.alloc(256 * 1024);
/** The default of MAX_UPLOAD_BYTES. */
const LARGEST_UPLOAD = 10 * 1024 ** 3;

/** One after the other, so that they do not disturb each other's times. */
export async function checkProxy(send: Send, target: ProxyTarget): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [check, run] of CHECKS) {
    const finding = await run(send, target).catch((error: unknown) => toFinding(check, error));
    findings.push(finding);
    if (finding.status === 'not_checked' && findings.length === 1) return [notChecked('proxy', UNAVAILABLE)];
  }
  return findings;
}

function toFinding(check: string, error: unknown): Finding {
  if (error instanceof Error && error.name === 'AbortError') throw error;
  const isClosed = error instanceof Error && /EPIPE|ECONNRESET|socket hang up/.test(error.message);
  return problem(check, {
    message: isClosed
      ? 'The connection is closed while the body is sent.'
      : `The request failed: ${error instanceof Error ? error.message : error}`,
    fix: isClosed ? BODY_LIMIT_FIX : 'Check the limits and timeouts of the proxy.',
  });
}

type Check = (send: Send, target: ProxyTarget) => Promise<Finding>;

const headersOf = ({ operatorKey }: ProxyTarget) => ({
  'X-Operator-Key': operatorKey,
  'Content-Type': 'application/octet-stream',
});

/** The service without these endpoints, or a refused key: another check reports that. */
const isUnavailable = ({ status }: Exchange): boolean => [401, 403, 404].includes(status);

const UNAVAILABLE = 'The diagnostics of the service do not answer.';

const unavailable = (check: string): Finding => notChecked(check, UNAVAILABLE);

const checkBodyLimit: Check = async (send, target) => {
  const check = 'proxy.body_limit';
  const { url, bodyBytes } = target;
  const response = await send(url + ECHO, {
    method: 'POST',
    headers: { ...headersOf(target), 'Content-Length': bodyBytes },
    body: repeat(bodyBytes),
    timeoutMs: 120_000,
  });
  if (isUnavailable(response)) return unavailable(check);
  const arrived = readData<EchoReport>(response)?.body_bytes;
  const details = { status: response.status, sent_bytes: bodyBytes, arrived_bytes: arrived ?? null };
  if (response.status === 200 && arrived === bodyBytes)
    return ok(check, `A body of ${formatBytes(bodyBytes)} arrives whole.`, details);
  return problem(check, {
    message:
      response.status === 413
        ? `The proxy refuses a body of ${formatBytes(bodyBytes)} (413).`
        : `A body of ${formatBytes(bodyBytes)} is answered with status ${response.status}.`,
    fix: BODY_LIMIT_FIX,
    details,
  });
};

const BODY_LIMIT_FIX = 'Raise the limit for /api/v1/uploads/; nginx: client_max_body_size 0;';

async function* repeat(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= LARGE_CHUNK.length)
    yield left < LARGE_CHUNK.length ? LARGE_CHUNK.subarray(0, left) : LARGE_CHUNK;
}

/** Announces more than it sends: the limit of a proxy shows at the head of a request. */
const checkAnnouncedSize: Check = async (send, target) => {
  const check = 'proxy.upload_limit';
  const response = await send(`${target.url}${ECHO}?respond=head`, {
    method: 'POST',
    headers: { ...headersOf(target), 'Content-Length': LARGEST_UPLOAD },
    isHeadOnly: true,
  }).catch((error: unknown) => {
    if (error instanceof Error && error.message === 'no response in time') return undefined;
    throw error;
  });
  const size = formatBytes(LARGEST_UPLOAD);
  if (response === undefined)
    return notChecked(check, 'The proxy waits for the body before it passes the request on.');
  if (isUnavailable(response)) return unavailable(check);
  const details = { status: response.status, announced_bytes: LARGEST_UPLOAD };
  if (response.status === 200) return ok(check, `Uploads up to ${size} are let through.`, details);
  return warning(check, {
    message: `The proxy refuses an upload of ${size} with status ${response.status}.`,
    fix: `${BODY_LIMIT_FIX} Or lower MAX_UPLOAD_BYTES to what the proxy allows.`,
    details,
  });
};

const checkRequestBuffering: Check = async (send, target) => {
  const check = 'proxy.request_buffering';
  const response = await send(target.url + ECHO, {
    method: 'POST',
    headers: { ...headersOf(target), 'Content-Length': CHUNKS * SLOW_CHUNK.length },
    body: sendSlowly(),
  });
  if (isUnavailable(response)) return unavailable(check);
  const report = readData<EchoReport>(response);
  const spread = report?.chunks.at(-1)?.at_ms ?? 0;
  const details = { sent_over_ms: SPREAD_MS, arrived_over_ms: Math.round(spread) };
  if (report && spread >= SPREAD_MS / 2)
    return ok(check, 'Uploads pass the proxy while they are sent.', details);
  return warning(check, {
    message: 'The proxy stores an upload before it passes it on: progress and resuming are delayed.',
    fix: 'Turn request buffering off for /api/v1/uploads/; nginx: proxy_request_buffering off;',
    details,
  });
};

async function* sendSlowly(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < CHUNKS; sent += 1) {
    if (sent > 0)
      await new Promise((resolve) => {
        setTimeout(resolve, GAP_MS);
      });
    yield SLOW_CHUNK;
  }
}

const checkResponseBuffering: Check = async (send, target) => {
  const check = 'proxy.response_buffering';
  const query = `?type=events&chunks=${CHUNKS}&interval_ms=${GAP_MS}`;
  const response = await send(target.url + STREAM + query, { headers: headersOf(target) });
  if (isUnavailable(response)) return unavailable(check);
  const spread = response.chunks.at(-1)?.atMs ?? 0;
  const details = { sent_over_ms: SPREAD_MS, arrived_over_ms: Math.round(spread) };
  return spread >= SPREAD_MS / 2
    ? ok(check, 'Live events pass the proxy at once.', details)
    : problem(check, {
        message: 'The proxy holds responses back: live events arrive late or never.',
        fix: 'Turn response buffering off for the paths that end with /events; nginx: proxy_buffering off;',
        details,
      });
};

const FIRST_BYTE = 1000;
const LAST_BYTE = 1999;

/** Byte n of the file has the value n mod 251. */
const checkRange: Check = async (send, target) => {
  const check = 'proxy.range';
  const response = await send(`${target.url}${STREAM}?type=bytes`, {
    headers: { ...headersOf(target), Range: `bytes=${FIRST_BYTE}-${LAST_BYTE}` },
  });
  if (isUnavailable(response)) return unavailable(check);
  const { status, body, headers } = response;
  const isRight = body.length === LAST_BYTE - FIRST_BYTE + 1 && body[0] === FIRST_BYTE % 251;
  const details = { status, bytes: body.length, content_range: headers['content-range'] ?? null };
  return status === 206 && isRight
    ? ok(check, 'Byte ranges pass the proxy: players can seek, downloads can continue.', details)
    : problem(check, {
        message: `A range request is answered with status ${status} and ${body.length} bytes.`,
        fix: 'Let the proxy pass Range and Content-Range, and do not compress or transform media.',
        details,
      });
};

const CHECKS: readonly (readonly [check: string, run: Check])[] = [
  // First, because a small body shows whether the diagnostics answer at all.
  ['proxy.request_buffering', checkRequestBuffering],
  ['proxy.body_limit', checkBodyLimit],
  ['proxy.upload_limit', checkAnnouncedSize],
  ['proxy.response_buffering', checkResponseBuffering],
  ['proxy.range', checkRange],
];
