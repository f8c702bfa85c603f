// Limits of outbound requests: every wait and every size has one.

export type OutboundLimits = {
  /** Limit of the name lookup, and again of connection and TLS handshake. */
  readonly connectMs: number;
  /** From the connection to the end of the response head. */
  readonly headMs: number;
  /** Longest silence within a body. */
  readonly idleMs: number;
  /** Whole exchange with its redirects, from the request to the last byte of the body. */
  readonly totalMs: number;
  /** At least so many bytes of the body in each window in which the reader waits for them. */
  readonly minRate: { readonly bytes: number; readonly windowMs: number };
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
  /** 0: a redirect is returned as the response. */
  readonly maxRedirects: number;
};

export const DEFAULT_OUTBOUND_LIMITS: OutboundLimits = {
  connectMs: 10_000,
  headMs: 15_000,
  idleMs: 15_000,
  totalMs: 60_000,
  minRate: { bytes: 4096, windowMs: 10_000 },
  maxHeaderBytes: 16 * 1024,
  maxBodyBytes: 1024 * 1024,
  maxRedirects: 5,
};
