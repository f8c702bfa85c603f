// Checks of the credentials, and of the live events that need one.
import { describeUnreachable, type ServiceAddress } from '@mediary/checks/connection';
import { type Finding, notChecked, ok, problem } from '@mediary/checks/finding';
import type { Send } from '@mediary/checks/probe';
import { describeProbe, parseEnvelope } from '@mediary/checks/reply';
import type { Credential, Settings } from '../settings/settings.ts';

export async function checkAccess(send: Send, settings: Settings): Promise<readonly Finding[]> {
  const { credential, owner } = settings;
  if (!credential)
    return [
      notChecked(
        'access.credentials',
        'No token and no service key is set.',
        'Set one: mediary config login',
      ),
    ];
  const query =
    credential.kind === 'service key' ? `&owner_user_id=${encodeURIComponent(owner ?? 'doctor')}` : '';
  const response = await send({
    method: 'GET',
    path: `/api/v1/media?limit=1${query}`,
    headers: headersOf(credential),
  });
  if ('failure' in response)
    return [problem('access.credentials', describeUnreachable(response, toAddress(settings)))];
  const { message, error } = parseEnvelope(response) ?? {};
  const details = { status: response.status, reason: error?.details?.['reason'] ?? null };
  if (response.status === 200)
    return [
      ok('access.credentials', `The ${credential.kind} is accepted.`, details),
      await checkEvents(send, settings, credential),
    ];
  return [
    problem('access.credentials', {
      message: `The ${credential.kind} is refused: ${message ?? `status ${response.status}`}`,
      fix: 'Renew them: mediary config login. A proxy must pass Authorization and X-Service-Key.',
      details,
    }),
  ];
}

/** As checks name it: this command sets the URL. */
export const toAddress = ({ url }: Settings): ServiceAddress => ({ url, setBy: '--url' });

const headersOf = (credential: Credential): Record<string, string> =>
  credential.kind === 'token'
    ? { Authorization: `Bearer ${credential.token}` }
    : { 'X-Service-Key': credential.key };

const FIRST_BYTES_MS = 5000;

/** The service sends a comment as soon as a stream is open. */
async function checkEvents(send: Send, { owner }: Settings, credential: Credential): Promise<Finding> {
  const check = 'access.events';
  const query =
    credential.kind === 'service key' && owner ? `?owner_user_id=${encodeURIComponent(owner)}` : '';
  const response = await send({
    method: 'GET',
    path: `/api/v1/events${query}`,
    headers: { ...headersOf(credential), Accept: 'text/event-stream' },
    timeoutMs: FIRST_BYTES_MS,
    isEndless: true,
  });
  const status = 'status' in response ? response.status : null;
  if (status === 404) return notChecked(check, 'The service has no live events.');
  if ('status' in response && status === 200 && response.body.length > 0)
    return ok(check, 'The stream of live events opens at once.', {
      head_after_ms: Math.round(response.headAfterMs),
    });
  return problem(check, {
    message:
      status === null
        ? `Nothing of the stream of live events arrives within ${FIRST_BYTES_MS / 1000} s.`
        : `The stream of live events is answered with status ${status}.`,
    fix: 'Turn response buffering off for the paths that end with /events; nginx: proxy_buffering off;',
    details: { status },
  });
}

/** The findings of the service itself. */
export async function readServiceFindings(
  send: Send,
  { operatorKey }: Settings,
  isDeep: boolean,
): Promise<readonly Finding[]> {
  const check = 'access.diagnostics';
  if (!operatorKey)
    return [
      notChecked(
        check,
        'The checks of the service and of the proxy need the operator key.',
        'Set MEDIARY_OPERATOR_KEY, or pass --operator-key',
      ),
    ];
  const response = await send({
    method: 'GET',
    path: `/api/v1/admin/diagnostics?deep=${isDeep}`,
    headers: { 'X-Operator-Key': operatorKey },
    timeoutMs: 60_000,
  });
  const status = 'status' in response ? response.status : undefined;
  const data = 'status' in response ? parseEnvelope(response)?.data : undefined;
  const findings = data?.['findings'] as readonly Finding[] | undefined;
  if (status === 200 && findings) return findings;
  if (status === 404) return [notChecked(check, 'The service has no diagnostics; it may be older.')];
  return [
    problem(check, {
      message: `The operator key is not accepted, or the diagnostics failed (${describeProbe(response)}).`,
      fix: 'Use the OPERATOR_KEY of the service; the service key does not open the operator routes.',
      details: { status: status ?? null },
    }),
  ];
}
