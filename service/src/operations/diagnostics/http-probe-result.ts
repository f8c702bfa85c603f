// The result of a request through the public URL, and what its response says.

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Uint8Array;
  readonly chunks: readonly { readonly atMs: number; readonly bytes: number }[];
};

export type NoReply = {
  readonly failure: 'timeout' | 'error';
  readonly phase: 'connect' | 'response';
  readonly code: string | undefined;
};

export type HttpProbeResult = Reply | NoReply;

export const headerOf = ({ headers }: Reply, name: string): string | undefined => {
  const value = headers[name];
  return value === undefined ? undefined : String(value);
};

export const isStatus = (result: HttpProbeResult, status: number): result is Reply =>
  'status' in result && result.status === status;

type Envelope = {
  readonly data?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly details?: Readonly<Record<string, unknown>> | null };
  readonly request_id: string;
};

/** Undefined when the body is not an envelope of the API. */
export function parseEnvelope({ body }: Reply): Envelope | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return isEnvelope(value) ? value : undefined;
  } catch {
    return undefined; // A page of a proxy.
  }
}

const isEnvelope = (value: unknown): value is Envelope =>
  typeof value === 'object' && value !== null && 'request_id' in value && 'success' in value;

/** In words, for messages. */
export function describeHttpProbe(result: HttpProbeResult): string {
  if ('status' in result) return `the response was ${result.status}`;
  if (result.failure === 'timeout') return 'no response came in time';
  return `the connection failed (${result.code ?? 'closed'})`;
}
