// What the result of a probe says.
import type { ProbeFailure, ProbeReply, ProbeResult } from './probe.ts';

export const headerOf = ({ headers }: Pick<ProbeReply, 'headers'>, name: string): string | undefined => {
  const value = headers[name];
  return value === undefined ? undefined : String(value);
};

export const isStatus = (result: ProbeResult, status: number): result is ProbeReply =>
  'status' in result && result.status === status;

type Envelope = {
  readonly success: boolean;
  readonly message?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly details?: Readonly<Record<string, unknown>> | null };
  readonly request_id: string;
};

/** Undefined when the body is not an envelope of the API. */
export function parseEnvelope(reply: Pick<ProbeReply, 'body'>): Envelope | undefined {
  const value = parseJson(reply);
  return isEnvelope(value) ? value : undefined;
}

const isEnvelope = (value: unknown): value is Envelope =>
  typeof value === 'object' && value !== null && 'request_id' in value && 'success' in value;

/** Undefined when the body is not JSON, such as a page of a proxy. */
export function parseJson({ body }: Pick<ProbeReply, 'body'>): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** In words, for messages. */
export function describeProbe(result: ProbeResult): string {
  if ('status' in result) return `the response was ${result.status}`;
  if (result.failure === 'timeout') return 'no response came in time';
  return `the connection failed (${result.code ?? 'closed'})`;
}

const CERTIFICATE_FIXES: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Renew the certificate of the proxy, and reload the proxy.',
  CERT_NOT_YET_VALID: 'Check the clock of this machine and the certificate of the proxy.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use a certificate that contains the host, or correct the URL.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'Let the proxy send the whole chain: nginx needs the intermediate certificates in ssl_certificate. Or ' +
    'name a private authority in NODE_EXTRA_CA_CERTS.',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    'Let the proxy send the whole chain, or name a private authority in NODE_EXTRA_CA_CERTS.',
  DEPTH_ZERO_SELF_SIGNED_CERT:
    'Use a certificate of an authority that clients trust, or name a private one in NODE_EXTRA_CA_CERTS.',
  SELF_SIGNED_CERT_IN_CHAIN:
    'Use a certificate of an authority that clients trust, or name a private one in NODE_EXTRA_CA_CERTS.',
};
const DNS_CODES = ['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'];
const PROTOCOL_CODES = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

type Probed = {
  readonly url: string;
  /** What sets the URL, such as PUBLIC_BASE_URL or --url. */
  readonly setBy: string;
  /** What to do where nothing is wrong with name, certificate and protocol. */
  readonly fix: string;
};

/** Why no response came, and what to do. */
export function explainFailure({ failure, phase, code = '' }: ProbeFailure, { url, setBy, fix }: Probed) {
  const { hostname, protocol } = new URL(url);
  const details = { url, phase, code };
  const certificateFix = CERTIFICATE_FIXES[code];
  if (certificateFix)
    return {
      message: `The certificate of ${hostname} is not valid (${code}).`,
      fix: certificateFix,
      details,
    };
  if (DNS_CODES.includes(code))
    return {
      message: `The host ${hostname} of ${setBy} cannot be resolved (${code}).`,
      fix: `Create the DNS record, or correct ${setBy}.`,
      details,
    };
  if (PROTOCOL_CODES.includes(code) || code.startsWith('HPE_'))
    return {
      message: `${hostname} does not speak ${protocol.slice(0, -1)} at this port (${code}).`,
      fix: `Correct the scheme or the port of ${setBy}.`,
      details,
    };
  const what = failure === 'timeout' ? 'did not respond in time' : `cannot be reached (${code || 'closed'})`;
  return { message: `${url} ${what} from this machine.`, fix, details };
}
