// Checks of CORS: what a browser needs to upload and to play.
import type { Exchange, Send } from './exchange.ts';
import { type Fault, type Finding, notChecked, ok, problem } from './finding.ts';

type CorsTarget = { readonly url: string; readonly origin: string | undefined };

/** No asset has this id: the answers are errors, which carry the CORS headers too. */
const NO_ASSET = '00000000-0000-7000-8000-000000000000';
/** Playback allows every origin. */
const ANY_ORIGIN = 'https://player.example';

type Preflight = {
  readonly check: string;
  readonly path: string;
  readonly origin: string;
  readonly method: string;
  readonly headers: readonly string[];
  /** Response headers that clients read. */
  readonly exposed: readonly string[];
};

const UPLOADS = [
  {
    check: 'cors.api',
    path: '/api/v1/media/upload-url',
    method: 'POST',
    headers: ['authorization', 'content-type', 'idempotency-key', 'prefer'],
    exposed: ['x-request-id', 'retry-after'],
  },
  {
    check: 'cors.upload',
    path: `/api/v1/uploads/${NO_ASSET}`,
    method: 'PUT',
    headers: ['content-type'],
    exposed: ['etag'],
  },
  {
    check: 'cors.resumable_upload',
    path: `/api/v1/uploads/${NO_ASSET}/tus`,
    method: 'PATCH',
    headers: ['content-type', 'tus-resumable', 'upload-offset'],
    exposed: ['location', 'tus-resumable', 'upload-offset', 'upload-length', 'upload-expires'],
  },
] as const;

const PLAYBACK = {
  check: 'cors.playback',
  path: `/api/v1/playback/${NO_ASSET}/hls.m3u8`,
  origin: ANY_ORIGIN,
  method: 'GET',
  headers: ['range'],
  exposed: ['content-length', 'content-range', 'accept-ranges'],
} as const;

export async function checkCors(send: Send, { url, origin }: CorsTarget): Promise<readonly Finding[]> {
  const playback = await checkPreflight(send, url, PLAYBACK);
  if (origin === undefined)
    return [
      playback,
      notChecked(
        'cors.upload',
        'Uploads from web pages were not checked.',
        'Name the origin of your web page: --origin https://app.example.com',
      ),
    ];
  const uploads = UPLOADS.map((preflight) => checkPreflight(send, url, { ...preflight, origin }));
  return [playback, ...(await Promise.all(uploads))];
}

async function checkPreflight(send: Send, url: string, preflight: Preflight): Promise<Finding> {
  const { check, path, origin, method, headers } = preflight;
  const answer = await send(url + path, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': headers.join(','),
    },
  });
  const request = await send(url + path, {
    method: method === 'GET' ? 'GET' : 'HEAD',
    headers: { Origin: origin },
  });
  const fault = findPreflightFault(answer, preflight) ?? findResponseFault(request, preflight);
  return fault
    ? problem(check, { details: { path, origin }, ...fault })
    : ok(check, describeSuccess(preflight), { path, origin });
}

const describeSuccess = ({ path, origin, method }: Preflight): string =>
  origin === ANY_ORIGIN
    ? 'Players on every site can read manifests and segments.'
    : `${method} ${describePath(path)} is allowed from ${origin}.`;

const describePath = (path: string): string => path.replace(NO_ASSET, '{id}');

function findPreflightFault({ status, headers }: Exchange, preflight: Preflight): Fault | undefined {
  const { path, origin, method } = preflight;
  if (status >= 300)
    return {
      message: `The preflight of ${describePath(path)} is answered with status ${status}.`,
      fix: 'Let the proxy pass OPTIONS requests to the service.',
      details: { status },
    };
  const refusal = findOriginFault(headers['access-control-allow-origin'], origin);
  if (refusal) return refusal;
  const methods = splitList(headers['access-control-allow-methods']);
  const allowed = splitList(headers['access-control-allow-headers']);
  const missing = preflight.headers.filter((name) => !allowed.includes(name) && !allowed.includes('*'));
  if (!methods.includes(method.toLowerCase()) && !methods.includes('*'))
    return {
      message: `The preflight of ${describePath(path)} does not allow ${method}.`,
      fix: PROXY_FIX,
      details: { allowed_methods: methods },
    };
  return missing.length === 0
    ? undefined
    : {
        message: `The preflight of ${describePath(path)} does not allow the headers ${missing.join(', ')}.`,
        fix: PROXY_FIX,
        details: { missing_headers: missing },
      };
}

const PROXY_FIX = 'Remove CORS headers from the proxy: the service sends them.';

function findOriginFault(allowed: string | undefined, origin: string): Fault | undefined {
  const details = { allow_origin: allowed ?? null };
  if (allowed === undefined)
    return {
      message: `${origin} is not allowed.`,
      fix: `Add ${origin} to CORS_ORIGINS, and let the proxy pass the Origin header.`,
      details,
    };
  if (allowed.includes(','))
    return {
      message: `Access-Control-Allow-Origin has two values, which browsers refuse: ${allowed}`,
      fix: PROXY_FIX,
      details,
    };
  return allowed === '*' || allowed === origin
    ? undefined
    : { message: `Only ${allowed} is allowed.`, fix: `Add ${origin} to CORS_ORIGINS.`, details };
}

function findResponseFault({ headers }: Exchange, { path, origin, exposed }: Preflight): Fault | undefined {
  const refusal = findOriginFault(headers['access-control-allow-origin'], origin);
  if (refusal) return refusal;
  const given = splitList(headers['access-control-expose-headers']);
  const missing = exposed.filter((name) => !given.includes(name) && !given.includes('*'));
  return missing.length === 0
    ? undefined
    : {
        message: `Responses of ${describePath(path)} do not expose ${missing.join(', ')} to web pages.`,
        fix: PROXY_FIX,
        details: { missing_exposed_headers: missing },
      };
}

const splitList = (header = ''): string[] =>
  header
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
