// Judges whether webhook endpoints can be reached, and names the ones that are paused.
import { type Finding, ok, problem, warning } from '@mediary/checks/finding';

/** `url` is never shown: its path or query may hold a secret of the receiver. */
type Endpoint = { readonly id: string; readonly url: string };

/** `failure`: reason and detail of the outbound client; undefined: the endpoint responded. */
type ProbedEndpoint = Endpoint & { readonly failure: string | undefined };

type Probes = { readonly probed: readonly ProbedEndpoint[]; readonly enabled: number };

const FIXES: Readonly<Record<string, string>> = {
  dns_failed: 'Correct the host of the URL, or the name server of this machine.',
  connect_failed: 'Start the receiver, and let this machine through its firewall.',
  tls_failed: 'Renew or correct the certificate of the receiver.',
  address_refused: 'Use a public address, or set OUTBOUND_ALLOW_PRIVATE=webhooks for a private network.',
  timeout: 'Check the receiver and the firewalls before it: webhooks wait for WEBHOOK_ENDPOINT_TIMEOUT_S.',
};
const OTHER_FIX = 'Send a test event (POST /api/v1/webhook-endpoints/{id}/test): its attempt says more.';
/** The connection works: a receiver may take only POST requests. */
const AFTER_CONNECT = /^(?:timeout: (?:head|total)|invalid_response|connection_lost)/;

export function judgeReachability({ probed, enabled }: Probes): Finding {
  const check = 'webhook_endpoints.reachable';
  const failed = probed.filter(({ failure }) => failure !== undefined);
  const details = {
    enabled,
    checked: probed.length,
    failed: failed.map(({ id, url, failure }) => ({ id, host: new URL(url).host, failure })),
  };
  if (enabled === 0) return ok(check, 'No webhook endpoint is enabled.', details);
  const [first] = failed;
  if (!first) return ok(check, `${probed.length} of ${enabled} webhook endpoints respond.`, details);
  const names = details.failed.map(({ host, failure }) => `${host} (${failure})`).join(', ');
  const isReached = failed.every(({ failure = '' }) => AFTER_CONNECT.test(failure));
  return (isReached ? warning : problem)(check, {
    message: `${failed.length} of ${probed.length} webhook endpoints do not respond: ${names}.`,
    fix: FIXES[first.failure?.split(':')[0] ?? ''] ?? OTHER_FIX,
    details,
  });
}

type PausedEndpoint = Endpoint & { readonly paused_reason: string | null };

const PAUSE_REASONS: Readonly<Record<string, string>> = {
  gone: 'responded with 410',
  failing: 'every delivery failed for days',
};

export function judgePaused({
  endpoints,
  paused,
}: {
  readonly endpoints: readonly PausedEndpoint[];
  readonly paused: number;
}): Finding {
  const check = 'webhook_endpoints.paused';
  if (paused === 0) return ok(check, 'No webhook endpoint is paused.');
  const named = endpoints.map(({ id, url, paused_reason: reason }) => ({
    id,
    host: new URL(url).host,
    reason,
  }));
  const names = named.map(({ host, reason }) => `${host} (${PAUSE_REASONS[reason ?? ''] ?? reason})`);
  return warning(check, {
    message: `${paused} webhook endpoints are paused and get no events: ${names.join(', ')}.`,
    fix:
      'Correct the receiver, enable the endpoint (PATCH /api/v1/webhook-endpoints/{id} {"enabled": true}), ' +
      'and send what it missed (POST …/{id}/resend). Delete endpoints that are not needed any more.',
    details: { paused, endpoints: named },
  });
}
