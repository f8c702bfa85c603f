// Judges whether a request through the public URL reaches this deployment, unchanged.
import type { EchoReport } from '@mediary/contract/schemas/admin/diagnostics';
import { type Finding, notChecked, ok, problem, type Trouble, warning } from '@mediary/checks/finding';
import type { ProbeReply, ProbeResult } from '@mediary/checks/probe';
import { explainFailure, headerOf, parseEnvelope } from '@mediary/checks/reply';

const CHECK = 'public_url';

type ExpectedEcho = {
  /** PUBLIC_BASE_URL. */
  readonly baseUrl: string;
  readonly requestId: string;
  readonly isProof: (proof: string) => boolean;
};

/** The report of this deployment; undefined when anything else answered. */
export function findEcho(
  result: ProbeResult,
  { isProof }: Pick<ExpectedEcho, 'isProof'>,
): EchoReport | undefined {
  const data = 'status' in result && result.status === 200 ? parseEnvelope(result)?.data : undefined;
  const { proof } = data ?? {};
  return typeof proof === 'string' && isProof(proof) ? (data as EchoReport) : undefined;
}

export function judgePublicUrl(result: ProbeResult, expected: ExpectedEcho): Finding {
  const { baseUrl } = expected;
  if ('failure' in result)
    return problem(
      CHECK,
      explainFailure(result, { url: baseUrl, setBy: 'PUBLIC_BASE_URL', fix: UNREACHABLE_FIX }),
    );
  if (findEcho(result, expected)) return ok(CHECK, `${baseUrl} leads to this deployment.`, { url: baseUrl });
  return judgeOtherReply(result, expected);
}

const UNREACHABLE_FIX =
  'Start the proxy and let it pass requests to this process. If clients reach it and only this machine ' +
  'does not, let the host resolve to the inner address of the proxy here (/etc/hosts).';

const PASS_UNCHANGED =
  'Pass the path on unchanged: in nginx, proxy_pass must name only the upstream, without a path or a ' +
  'trailing slash ("proxy_pass http://mediary;"). If PUBLIC_BASE_URL has a path, the proxy must remove ' +
  'exactly that path.';

function judgeOtherReply(reply: ProbeReply, { baseUrl, requestId }: ExpectedEcho): Finding {
  const { status } = reply;
  const details = { url: baseUrl, status };
  const location = headerOf(reply, 'location');
  if (status >= 300 && status < 400 && location !== undefined)
    return problem(CHECK, {
      message: `${baseUrl} redirects requests to ${originOf(location, baseUrl)} (${status}).`,
      fix: 'Set PUBLIC_BASE_URL to the address behind the redirect: clients do not repeat uploads elsewhere.',
      details: { ...details, location: originOf(location, baseUrl) },
    });
  const envelope = parseEnvelope(reply);
  // A proxy may replace X-Request-Id, and may answer 503 with an envelope of its own.
  const isOwn = envelope?.request_id === requestId || status === 401 || status === 404;
  if (envelope && isOwn && status !== 200)
    return judgeEnvelope(status, { reason: envelope.error?.details?.['reason'], baseUrl });
  if ([502, 503, 504].includes(status))
    return problem(CHECK, {
      message: `The proxy at ${baseUrl} does not reach the service (${status}).`,
      fix: 'Correct the address and port of the service in the proxy, and start all processes.',
      details,
    });
  if (status === 401 || status === 403)
    return problem(CHECK, {
      message: `The proxy at ${baseUrl} demands credentials of its own (${status}).`,
      fix: 'Let the proxy pass requests below /api/v1/ on: the service checks credentials itself.',
      details,
    });
  return problem(CHECK, {
    message: `Another service answers at ${baseUrl} (${status}).`,
    fix: `Correct PUBLIC_BASE_URL, or the proxy. ${PASS_UNCHANGED}`,
    details,
  });
}

/** A Mediary service answered, but not with the report. */
function judgeEnvelope(
  status: number,
  { reason, baseUrl }: { readonly reason: unknown; readonly baseUrl: string },
): Finding {
  const details = { url: baseUrl, status, reason };
  if (status === 404)
    return problem(CHECK, {
      message: `The proxy at ${baseUrl} changes the path of requests: the service does not know it (404).`,
      fix: PASS_UNCHANGED,
      details,
    });
  if (status === 401 && reason === 'missing')
    return problem(CHECK, {
      message: `The proxy at ${baseUrl} removes request headers (X-Diagnostics-Token).`,
      fix: 'Let the proxy pass all request headers on.',
      details,
    });
  if (status === 401)
    return problem(CHECK, {
      message: `${baseUrl} leads to a process with another URL signing secret.`,
      fix:
        'Correct PUBLIC_BASE_URL if it is another deployment. Otherwise set the same URL_SIGNING_SECRET ' +
        '(or the same database, without it) for every process.',
      details,
    });
  return notChecked(CHECK, `The service answered ${status} at ${baseUrl}. Try again later.`);
}

/** Without path and query, which may contain secrets. */
const originOf = (location: string, baseUrl: string): string =>
  URL.canParse(location, baseUrl) ? new URL(location, baseUrl).origin : 'an invalid address';

type ForwardedContext = {
  readonly baseUrl: string;
  readonly hasTrustProxy: boolean;
  readonly hasAddressLimit: boolean;
};

/** Judges the headers of proxies, as the service sees them. */
export function judgeForwarded(echo: EchoReport, context: ForwardedContext): Finding {
  const check = 'public_url.forwarded_headers';
  const { headers, peer_address, client_address } = echo;
  const details = { peer_address, client_address, host: headers['host'] ?? null };
  const addressTrouble = findAddressTrouble(echo, context);
  // Only rate limits use the address of clients.
  if (addressTrouble && (context.hasAddressLimit || context.hasTrustProxy))
    return (context.hasAddressLimit ? problem : warning)(check, { ...addressTrouble, details });
  const { protocol, hostname } = new URL(context.baseUrl);
  const scheme = headers['x-forwarded-proto'];
  if (scheme !== undefined && !scheme.split(',').some((each) => `${each.trim()}:` === protocol))
    return warning(check, {
      message: `The proxy says that clients use ${scheme}, but PUBLIC_BASE_URL is ${protocol.slice(0, -1)}.`,
      fix: 'Correct PUBLIC_BASE_URL, or let the outermost proxy set X-Forwarded-Proto.',
      details: { ...details, x_forwarded_proto: scheme },
    });
  if (![headers['host'], headers['x-forwarded-host']].some((each) => withoutPort(each) === hostname))
    return warning(check, {
      message: `The proxy replaces the host ${hostname} by ${headers['host'] ?? 'none'}.`,
      fix: 'nginx: "proxy_set_header Host $host;".',
      details,
    });
  return ok(check, 'Host, scheme and client address arrive as expected.', details);
}

/** Proxies often drop the port. */
const withoutPort = (host = ''): string => host.trim().replace(/:\d*$/, '');

function findAddressTrouble(
  { headers, peer_address, client_address }: EchoReport,
  { hasTrustProxy }: ForwardedContext,
): Trouble | undefined {
  const forwardedFor = headers['x-forwarded-for']?.split(',').at(-1)?.trim();
  if (forwardedFor !== undefined && !hasTrustProxy)
    return {
      message: 'A proxy sends X-Forwarded-For, but TRUST_PROXY is not set: all clients share its address.',
      fix: `Set TRUST_PROXY to the address of the proxy (${peer_address}).`,
    };
  if (forwardedFor === undefined && hasTrustProxy)
    return {
      message: 'TRUST_PROXY is set, but the proxy does not send X-Forwarded-For.',
      fix: 'nginx: "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;".',
    };
  // On one machine the proxy and its client have the same address.
  return forwardedFor !== undefined && client_address === peer_address && forwardedFor !== peer_address
    ? {
        message: `The proxy ${peer_address} sends X-Forwarded-For, but TRUST_PROXY does not name it.`,
        fix: `Add ${peer_address} to TRUST_PROXY.`,
      }
    : undefined;
}

export const judgeUnreachable = (checks: readonly string[]): Finding[] =>
  checks.map((check) => notChecked(check, 'Needs a public URL that leads to this deployment.'));
