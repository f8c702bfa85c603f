// Checks of the connection: reachable, TLS, clock, and the public URL.
import type { PeerCertificate } from 'node:tls';
import { type Finding, notChecked, ok, problem, type Trouble, warning } from './finding.ts';
import type { ProbeFailure, ProbeReply, Send } from './probe.ts';
import { explainFailure, headerOf, parseJson } from './reply.ts';

type OpenApi = {
  readonly info?: { readonly title?: string; readonly version?: string };
  readonly servers?: readonly { url: string }[];
};

/** `setBy`: what sets the URL of the service, such as --url. */
export type ServiceAddress = { readonly url: string; readonly setBy: string };

type Connection = {
  readonly isReachable: boolean;
  /** Of the service; undefined where it cannot be reached. */
  readonly version?: string | undefined;
  readonly findings: readonly Finding[];
};

/** The other checks need `isReachable`. */
export async function checkConnection(send: Send, address: ServiceAddress): Promise<Connection> {
  const { url } = address;
  const startedAt = Date.now();
  const response = await send({ method: 'GET', path: '/api/v1/openapi.json' });
  if ('failure' in response)
    return {
      isReachable: false,
      findings: [problem('connection.reachable', describeUnreachable(response, address))],
    };
  const receivedAt = Date.now();
  const api = parseJson(response) as OpenApi | undefined;
  const refusal = findRefusal(response, api, address);
  if (refusal) return { isReachable: false, findings: [problem('connection.reachable', refusal)] };
  const ms = Math.round(response.headAfterMs);
  return {
    isReachable: true,
    version: api?.info?.version,
    findings: [
      ok('connection.reachable', `${url} answers after ${ms} ms.`, { head_after_ms: ms }),
      checkTls(url, response.certificate, new Date(receivedAt)),
      checkClock(headerOf(response, 'date'), (startedAt + receivedAt) / 2),
      checkPublicUrl(address, api?.servers?.[0]?.url),
      await checkReadiness(send, address),
    ],
  };
}

export const describeUnreachable = (failure: ProbeFailure, { url, setBy }: ServiceAddress): Trouble =>
  explainFailure(failure, {
    url,
    setBy,
    fix:
      `Start the service, correct ${setBy} (host and port), or let the firewall and the proxy pass ` +
      'requests through.',
  });

function findRefusal(
  reply: Pick<ProbeReply, 'status' | 'headers'>,
  api: OpenApi | undefined,
  { url, setBy }: ServiceAddress,
): Trouble | undefined {
  const { status } = reply;
  const details = { status };
  const location = headerOf(reply, 'location');
  if (location !== undefined && URL.canParse(location, url)) {
    const target = new URL(location, url).href.replace(/\/api\/v1\/openapi\.json.*$/, '');
    return {
      message: `${url} redirects to ${target}. Redirects lose the body of uploads.`,
      fix: `Use ${setBy} ${target}`,
      details,
    };
  }
  if (status >= 500)
    return {
      message: `The proxy or the service answers with status ${status}.`,
      fix: 'Check that the service runs, and that the proxy passes requests to its address.',
      details,
    };
  if (api?.info?.title !== undefined) return undefined;
  return {
    message: `${url} answers with status ${status}, but is not the Mediary API.`,
    fix: `Correct ${setBy}, or let the proxy pass /api/v1/ to the service without changing the path.`,
    details,
  };
}

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;

export function checkTls(url: string, certificate: PeerCertificate | undefined, now: Date): Finding {
  const check = 'connection.tls';
  if (!certificate)
    return isLoopbackUrl(url)
      ? ok(check, 'Plain HTTP; the traffic does not leave this machine.')
      : warning(check, {
          message: 'Plain HTTP: tokens and keys can be read on the network.',
          fix: 'Put a proxy with TLS in front of the service, and use https://.',
        });
  const days = Math.floor((Date.parse(certificate.valid_to) - now.getTime()) / DAY_MS);
  const details = { valid_to: certificate.valid_to, days_left: days };
  return days < RENEW_DAYS
    ? warning(check, { message: `The certificate expires in ${days} days.`, fix: 'Renew it.', details })
    : ok(check, `The certificate is valid for ${days} days.`, details);
}

/** The leeway of access tokens; the Date header has whole seconds. */
const LEEWAY_S = 5;
const MAX_SKEW_S = 60;

export function checkClock(date: string | undefined, nowMs: number): Finding {
  const check = 'connection.clock';
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return notChecked(check, 'The response has no Date header.');
  const skew = Math.round((time + 500 - nowMs) / 1000);
  const details = { skew_s: skew };
  if (Math.abs(skew) <= LEEWAY_S)
    return ok(check, 'The clocks of the service and of this machine agree.', details);
  const side = skew < 0 ? 'behind' : 'ahead of';
  const trouble: Trouble = {
    message: `The clock of the service is ${Math.abs(skew)} s ${side} this machine's.`,
    fix: 'Synchronize both clocks (NTP). Tokens and signatures expire by them.',
    details,
  };
  return Math.abs(skew) > MAX_SKEW_S ? problem(check, trouble) : warning(check, trouble);
}

export function checkPublicUrl({ url, setBy }: ServiceAddress, publicUrl: string | undefined): Finding {
  const check = 'connection.public_url';
  if (!publicUrl) return notChecked(check, 'The OpenAPI document names no server.');
  const details = { public_base_url: publicUrl };
  if (publicUrl.replace(/\/+$/, '') === url)
    return ok(check, 'Upload and playback URLs start with this URL.', details);
  const isUnreachable = isLoopbackUrl(publicUrl) && !isLoopbackUrl(url);
  const trouble: Trouble = {
    message: `The service hands out URLs below ${publicUrl}, not ${url}.`,
    fix: `Set PUBLIC_BASE_URL=${url}, or use ${setBy} ${publicUrl}`,
    details,
  };
  return isUnreachable ? problem(check, trouble) : warning(check, trouble);
}

type Readiness = {
  readonly message?: string;
  readonly data?: { readonly worker_count?: number; readonly warnings?: readonly string[] };
};

/** Whether the service can run jobs, or take uploads. */
export async function checkReadiness(
  send: Send,
  address: ServiceAddress,
  purpose: 'jobs' | 'uploads' = 'jobs',
): Promise<Finding> {
  const check = purpose === 'jobs' ? 'connection.ready' : 'connection.ready_for_uploads';
  const response = await send({ method: 'GET', path: `/readyz?for=${purpose}` });
  if ('failure' in response)
    return problem(check, describeUnreachable(response, { ...address, url: `${address.url}/readyz` }));
  const { status } = response;
  const body = parseJson(response) as Readiness | undefined;
  if (status === 404 || body === undefined)
    return notChecked(check, 'The proxy does not pass /readyz to the service.');
  const details = { status, ...body.data };
  if (status !== 200)
    return problem(check, {
      message: `The service is not ready: ${body.message ?? status}`,
      fix: 'Check database, object store and free disk space; the log of the service has the cause.',
      details,
    });
  if (purpose === 'uploads') return ok(check, 'The service takes uploads.', details);
  if (body.data?.warnings?.includes('scratch_disk_full'))
    return problem(check, {
      message: 'Encodes wait: the disk of a worker has too little space.',
      fix: 'Free space where DATA_DIR of the workers is; waiting encodes then start within a minute.',
      details,
    });
  return body.data?.warnings?.includes('no_workers')
    ? problem(check, {
        message: 'No worker is alive: nothing is encoded.',
        fix: 'Start a process with MEDIARY_ROLE=worker or all.',
        details,
      })
    : ok(check, `The service is ready${describeWorkers(body.data?.worker_count)}.`, details);
}

function describeWorkers(count: number | undefined): string {
  if (count === undefined) return '';
  return count === 1 ? ', with one worker' : `, with ${count} workers`;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export const isLoopbackUrl = (url: string): boolean => LOOPBACK.test(new URL(url).hostname);
