// Checks of the connection: reachable, TLS, clock, and the public URL.
import type { PeerCertificate } from 'node:tls';
import { isLoopbackUrl } from '../settings/local-secrets.ts';
import { type Exchange, readJson, type Send } from './exchange.ts';
import { type Fault, type Finding, notChecked, ok, problem, warning } from './finding.ts';

type OpenApi = { readonly info?: { readonly title?: string }; readonly servers?: readonly { url: string }[] };

/** The other checks need `isReachable`. */
export async function checkConnection(
  send: Send,
  url: string,
): Promise<{ readonly isReachable: boolean; readonly findings: readonly Finding[] }> {
  const startedAt = Date.now();
  const response = await send(`${url}/api/v1/openapi.json`).catch(toError);
  if (response instanceof Error)
    return { isReachable: false, findings: [problem('connection.reachable', toFault(response, url))] };
  const receivedAt = Date.now();
  const api = readJson<OpenApi>(response.body);
  const refusal = findRefusal(response, api, url);
  if (refusal) return { isReachable: false, findings: [problem('connection.reachable', refusal)] };
  const ms = Math.round(response.headAtMs);
  return {
    isReachable: true,
    findings: [
      ok('connection.reachable', `${url} answers after ${ms} ms.`, { first_byte_ms: ms }),
      checkTls(url, response.certificate, new Date(receivedAt)),
      checkClock(response.headers['date'], (startedAt + receivedAt) / 2),
      checkPublicUrl(url, api?.servers?.[0]?.url),
      await checkReadiness(send, url),
    ],
  };
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));

const CAUSES: readonly (readonly [code: RegExp, fix: string])[] = [
  [/ECONNREFUSED/, 'Nothing listens there. Start the service, or correct --url (host and port).'],
  [/ENOTFOUND|EAI_/, 'The host name does not resolve. Correct --url, or the DNS record.'],
  [/CERT_HAS_EXPIRED/, 'Renew the certificate.'],
  [/ALTNAME/, 'The certificate is for another host name. Correct --url, or the certificate.'],
  [
    /SELF_SIGNED|UNABLE_TO|CERT_/,
    'Serve the whole certificate chain. For a private authority, set NODE_EXTRA_CA_CERTS to its certificate.',
  ],
  [/EPROTO|WRONG_VERSION|ERR_SSL/, 'The port does not speak TLS. Use http://, or the port of https.'],
];

/** `url` cannot be reached because of `error`. */
export function toFault(error: Error, url: string): Fault {
  const code = 'code' in error ? String(error.code) : '';
  const text = error.message || code;
  const [, fix] = CAUSES.find(([form]) => form.test(`${code} ${text}`)) ?? [];
  return {
    message: `${url} cannot be reached: ${text}`,
    fix: fix ?? 'Check that a firewall or proxy lets requests through.',
    details: { code: code || null },
  };
}

function findRefusal(
  { status, headers }: Exchange,
  api: OpenApi | undefined,
  url: string,
): Fault | undefined {
  const details = { status };
  const location = headers['location'];
  if (location !== undefined && URL.canParse(location, url)) {
    const target = new URL(location, url).href.replace(/\/api\/v1\/openapi\.json.*$/, '');
    return {
      message: `${url} redirects to ${target}. Redirects lose the body of uploads.`,
      fix: `Use --url ${target}`,
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
    fix: 'Correct --url, or let the proxy pass /api/v1/ to the service without changing the path.',
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
  const fault: Fault = {
    message: `The clock of the service is ${Math.abs(skew)} s ${side} this machine's.`,
    fix: 'Synchronize both clocks (NTP). Tokens and signatures expire by them.',
    details,
  };
  return Math.abs(skew) > MAX_SKEW_S ? problem(check, fault) : warning(check, fault);
}

export function checkPublicUrl(url: string, publicUrl: string | undefined): Finding {
  const check = 'connection.public_url';
  if (!publicUrl) return notChecked(check, 'The OpenAPI document names no server.');
  const details = { public_base_url: publicUrl };
  if (publicUrl.replace(/\/+$/, '') === url)
    return ok(check, 'Upload and playback URLs start with this URL.', details);
  const isUnreachable = isLoopbackUrl(publicUrl) && !isLoopbackUrl(url);
  const fault: Fault = {
    message: `The service hands out URLs below ${publicUrl}, not ${url}.`,
    fix: `Set PUBLIC_BASE_URL=${url}, or use --url ${publicUrl}`,
    details,
  };
  return isUnreachable ? problem(check, fault) : warning(check, fault);
}

async function checkReadiness(send: Send, url: string): Promise<Finding> {
  const check = 'connection.ready';
  const response = await send(`${url}/readyz?for=jobs`).catch(toError);
  if (response instanceof Error) return problem(check, toFault(response, `${url}/readyz?for=jobs`));
  const { status } = response;
  const body = readJson<{ message?: string; data?: { worker_count?: number; warnings?: string[] } }>(
    response.body,
  );
  if (status === 404 || body === undefined)
    return notChecked(check, 'The proxy does not pass /readyz to the service.');
  const details = { status, ...body.data };
  if (status !== 200)
    return problem(check, {
      message: `The service is not ready: ${body.message ?? status}`,
      fix: 'Check database, object store and free disk space; the log of the service has the cause.',
      details,
    });
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
