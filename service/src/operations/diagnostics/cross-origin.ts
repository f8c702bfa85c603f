// Judges whether web pages of the configured origins can upload through the proxy.
import { type Finding, notChecked, ok, problem } from './finding.ts';
import { describeHttpProbe, headerOf, type HttpProbeResult, type Reply } from './http-probe-result.ts';

const CHECK = 'public_url.cors';

/** The preflight of resumable uploads, which need the most headers. */
export const PREFLIGHT = {
  method: 'PATCH',
  headers: ['authorization', 'content-type', 'tus-resumable', 'upload-length', 'upload-offset'],
} as const;
/** Headers of responses that pages read. */
const READ_HEADERS = [
  'etag',
  'location',
  'tus-resumable',
  'upload-expires',
  'upload-length',
  'upload-offset',
];

type CorsProbes = { readonly preflight: HttpProbeResult; readonly actual: HttpProbeResult };

export function judgeCors(origin: string, { preflight, actual }: CorsProbes): Finding {
  if (!('status' in preflight) || !('status' in actual))
    return notChecked(
      CHECK,
      `Not known for ${origin}: ${describeHttpProbe('status' in preflight ? actual : preflight)}.`,
    );
  const trouble =
    findOriginTrouble(preflight, origin) ??
    findPreflightTrouble(preflight) ??
    findOriginTrouble(actual, origin) ??
    findHidden(actual);
  const details = { origin, preflight_status: preflight.status };
  return trouble === undefined
    ? ok(CHECK, `Web pages of ${origin} can upload.`, details)
    : problem(CHECK, {
        message: `Web pages of ${origin} cannot upload: ${trouble}.`,
        fix:
          'Let the proxy pass OPTIONS on, and neither add nor remove Access-Control-… headers: the service ' +
          'answers by CORS_ORIGINS.',
        details,
      });
}

function findOriginTrouble(reply: Reply, origin: string): string | undefined {
  const allowed = headerOf(reply, 'access-control-allow-origin');
  if (allowed === undefined) return 'Access-Control-Allow-Origin is missing';
  if (allowed === origin || allowed === '*') return undefined;
  return allowed.includes(',')
    ? 'Access-Control-Allow-Origin is there twice'
    : `Access-Control-Allow-Origin is ${allowed}`;
}

function findPreflightTrouble(reply: Reply): string | undefined {
  if (reply.status >= 300) return `the preflight request is answered ${reply.status}`;
  if (!listOf(reply, 'access-control-allow-methods').includes(PREFLIGHT.method.toLowerCase()))
    return `${PREFLIGHT.method} is not allowed`;
  const allowed = listOf(reply, 'access-control-allow-headers');
  const missing = PREFLIGHT.headers.filter((name) => !allowed.includes(name));
  return missing.length === 0 ? undefined : `the request headers ${missing.join(', ')} are not allowed`;
}

function findHidden(reply: Reply): string | undefined {
  const exposed = listOf(reply, 'access-control-expose-headers');
  const hidden = READ_HEADERS.filter((name) => !exposed.includes(name));
  return hidden.length === 0 ? undefined : `the response headers ${hidden.join(', ')} are not exposed`;
}

const listOf = (reply: Reply, name: string): string[] =>
  (headerOf(reply, name) ?? '').split(',').map((item) => item.trim().toLowerCase());
