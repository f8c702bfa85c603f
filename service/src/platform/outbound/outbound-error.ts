// The error of outbound requests: a known reason, and what more is known.

/** Why an outbound request failed. `restart_required`: the bytes received so far cannot be continued. */
export type OutboundReason =
  | 'invalid_request'
  | 'address_refused'
  | 'dns_failed'
  | 'connect_failed'
  | 'tls_failed'
  | 'timeout'
  | 'too_many_redirects'
  | 'http_status'
  | 'invalid_response'
  | 'too_large'
  | 'connection_lost'
  | 'restart_required'
  | 'aborted';

/** `detail`: a fixed word or an error code, never text of the other side. */
type FailureDetails = {
  readonly detail?: string | undefined;
  readonly status?: number;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
};

export class OutboundError extends Error {
  readonly reason: OutboundReason;
  readonly detail: string | undefined;
  /** The status of the response, for `http_status`. */
  readonly status: number | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: OutboundReason, { detail, status, retryAfterSeconds, cause }: FailureDetails = {}) {
    super([reason, detail ?? status].filter((word) => word !== undefined).join(': '), { cause });
    this.reason = reason;
    this.detail = detail;
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
