// Requests to a source: with retries after rate limits, server errors and lost connections.
import { setTimeout as delay } from 'node:timers/promises';
import { CliError, EXIT } from '../exit-codes.ts';
import { describeCause } from '../failure.ts';

export type VendorRequest = {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: object;
};

export type VendorClient = {
  readonly readJson: <T>(request: VendorRequest) => Promise<T>;
  readonly readText: (request: VendorRequest) => Promise<string>;
  /** The first bytes; undefined where the source does not have the file. */
  readonly findHead: (url: string, maxBytes: number) => Promise<Uint8Array | undefined>;
  /** Waits with growing pauses until `check` returns a value. */
  readonly poll: <T>(check: () => Promise<T | undefined>) => Promise<T>;
};

type VendorOptions = {
  /** In messages, such as `cdnhost`. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What to check after 401 and 403. */
  readonly credentialHint: string;
  readonly signal: AbortSignal;
};

const MAX_ATTEMPTS = 7;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;
const TIMEOUT_MS = 60_000;
const LONGEST_POLL_MS = 15_000;
const POLL_DEADLINE_MS = 2 * 3_600_000;

export function createVendorClient(options: VendorOptions): VendorClient {
  return {
    readJson: async <T>(request: VendorRequest) => {
      const text = await (await sendOk(options, request)).text();
      try {
        return JSON.parse(text) as T;
      } catch {
        throw new CliError(`${options.name} returned no JSON for ${describeRequest(request)}.`, EXIT.failed);
      }
    },
    readText: async (request) => (await sendOk(options, request)).text(),
    findHead: async (url, maxBytes) => {
      const response = await send(options, { url, headers: { range: `bytes=0-${maxBytes - 1}` } });
      if (response.status === 404) return undefined;
      if (!response.ok) throw await toError(options, { url }, response);
      return readHead(response, maxBytes);
    },
    poll: async (check) => {
      const deadline = Date.now() + POLL_DEADLINE_MS;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)) {
        const found = await check();
        if (found !== undefined) return found;
        if (Date.now() > deadline)
          throw new CliError(`${options.name} has not prepared the file within two hours.`, EXIT.failed);
        await delay(pauseMs, undefined, { signal: options.signal });
      }
    },
  };
}

async function sendOk(options: VendorOptions, request: VendorRequest): Promise<Response> {
  const response = await send(options, request);
  if (!response.ok) throw await toError(options, request, response);
  return response;
}

async function send(options: VendorOptions, request: VendorRequest): Promise<Response> {
  const { name, signal } = options;
  for (let attempt = 1; ; attempt += 1) {
    const isLast = attempt === MAX_ATTEMPTS;
    try {
      const response = await sendOnce(options, request);
      if (!isTransient(response.status) || isLast) return response;
      await response.body?.cancel();
      await delay(toPauseMs(attempt, response.headers.get('retry-after')), undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (isLast)
        throw new CliError(`${name} cannot be reached: ${describeCause(error)}`, EXIT.failed, HOST_HINT);
      await delay(toPauseMs(attempt, null), undefined, { signal });
    }
  }
}

const HOST_HINT = 'Check the address of the source and the connection of this machine.';

const sendOnce = (
  { headers, signal }: VendorOptions,
  { method = 'GET', url, headers: own, json }: VendorRequest,
): Promise<Response> =>
  fetch(url, {
    method,
    headers: { ...headers, ...own, ...(json && { 'content-type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });

const isTransient = (status: number): boolean => status === 429 || (status >= 500 && status !== 501);

/** Doubles with each attempt, with jitter; at least what `Retry-After` demands. */
export function toPauseMs(attempt: number, retryAfter: string | null): number {
  const longest = FIRST_PAUSE_MS * 2 ** (attempt - 1);
  const jittered = longest / 2 + (Math.random() * longest) / 2;
  return Math.min(LONGEST_PAUSE_MS, Math.max(jittered, (Number(retryAfter) || 0) * 1000));
}

const MAX_MESSAGE = 200;

async function toError(
  { name, credentialHint }: VendorOptions,
  request: VendorRequest,
  response: Response,
): Promise<CliError> {
  const text = (await response.text()).replaceAll(/\s+/g, ' ').slice(0, MAX_MESSAGE);
  const message = `${name} returned ${response.status} for ${describeRequest(request)}: ${text}`;
  return response.status === 401 || response.status === 403
    ? new CliError(message, EXIT.auth, credentialHint)
    : new CliError(message, EXIT.failed);
}

/** Without the query and tokens in the path: reports must not contain signatures. */
const describeRequest = ({ method = 'GET', url }: VendorRequest): string =>
  `${method} ${new URL(url).pathname.replace(/\/[^/]*token=[^/]*/, '')}`;

async function readHead(response: Response, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    size += part.length;
    if (size >= maxBytes) break;
  }
  return Buffer.concat(parts).subarray(0, maxBytes);
}
