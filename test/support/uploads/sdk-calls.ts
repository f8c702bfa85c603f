// With TEST_SDK=1 the calls of journeys go through the SDK where it can express them.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createMediary, type Mediary, MediaryError } from '@mediary/client';
import { afterAll, expect } from 'vitest';

export const IS_BY_SDK = process.env['TEST_SDK'] === '1';

/** A request that the SDK sent, and its response. */
export type RecordedCall = {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
};

/** The requests of one call of the SDK, whose own `fetch` has to stay: it streams uploads in Node. */
const running = new AsyncLocalStorage<RecordedCall[]>();
const sent = { bySdk: 0, raw: 0 };

if (IS_BY_SDK) {
  const platformFetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const exchanges = running.getStore();
    const response = await platformFetch(input, init);
    if (!exchanges) return response;
    sent.bySdk += 1;
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) return response;
    const { status, headers } = response;
    const body = toJson(await response.clone().text());
    exchanges.push({ method: init?.method ?? 'GET', url: String(input), status, headers, body });
    return response;
  };
  afterAll(() => {
    expect(sent.bySdk, `requests by the SDK, beside ${sent.raw} others`).toBeGreaterThan(sent.raw);
  });
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Video providers do not answer in JSON.
    return text;
  }
}

type Recorded<T> = {
  readonly exchanges: readonly RecordedCall[];
  readonly data?: T;
  /** Refusals alone; other errors are thrown. */
  readonly error?: MediaryError;
};

/** Runs a call of the SDK and returns the requests that it sent. */
export async function recordExchanges<T>(run: () => Promise<T>): Promise<Recorded<T>> {
  const exchanges: RecordedCall[] = [];
  try {
    return { exchanges, data: await running.run(exchanges, run) };
  } catch (error) {
    if (!(error instanceof MediaryError) || error.status === undefined) throw error;
    return { exchanges, error };
  }
}

/** The response as raw calls return it; data, or code, details and message, as the SDK returned them. */
export function toAnswer(
  exchange: RecordedCall,
  { data, error }: Pick<Recorded<unknown>, 'data' | 'error'>,
): RecordedCall {
  const envelope = exchange.body as object;
  if (!error) return { ...exchange, body: { ...envelope, data } };
  const { status = 0, message, errorCode: error_code, details, requestId: request_id } = error;
  return { ...exchange, status, body: { ...envelope, message, request_id, error: { error_code, details } } };
}

type RawCall = {
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string> | undefined;
  readonly json?: unknown;
  readonly body?: unknown;
};
type SdkOptions = { ownerUserId?: string | number; idempotencyKey?: string; ifMatch?: number };
type Values = {
  readonly id: string;
  readonly json: never;
  readonly query: Record<string, string>;
  readonly options: SdkOptions;
};
type Operation = {
  readonly query?: readonly string[];
  /** The members of the body are the caller's own. */
  readonly hasBody?: boolean;
  readonly run: (mediary: Mediary, values: Values) => Promise<unknown>;
};

const PAGE = ['limit', 'cursor'];
const FILTERS = [
  ...['owner_user_id', 'sort', 'kind', 'stream_status', 'status', 'provider', 'tag', 'q'],
  ...['created_after', 'created_before', 'deleted', 'count'],
];

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /media/upload-url': {
    query: ['deduplicate', 'expand'],
    hasBody: true,
    run: ({ media }, { json, query, options }) =>
      media.createUpload(json, { ...options, ...(query as object) }),
  },
  'POST /media/import': { hasBody: true, run: ({ media }, { json, options }) => media.import(json, options) },
  'POST /media/{id}/clip': {
    hasBody: true,
    run: ({ media }, { id, json, options }) => media.clip(id, json, options),
  },
  'GET /media': {
    query: [...PAGE, ...FILTERS],
    run: ({ media }, { query, options }) => media.list(query, options).page(),
  },
  'GET /media/{id}': { run: ({ media }, { id, options }) => media.get(id, options) },
  'PATCH /media/{id}': {
    hasBody: true,
    run: ({ media }, { id, json, options }) => media.update(id, json, options),
  },
  'DELETE /media/{id}': {
    query: ['trash'],
    run: ({ media }, { id, query, options }) =>
      media.delete(id, {
        ...options,
        trash: query['trash'] === undefined ? undefined : query['trash'] === 'true',
      }),
  },
  'POST /media/{id}/complete': { run: ({ media }, { id, options }) => media.complete(id, options) },
  'POST /media/{id}/restore': { run: ({ media }, { id, options }) => media.restore(id, options) },
  'POST /media/{id}/retry': {
    query: ['expand'],
    run: ({ media }, { id, query, options }) => media.retry(id, { ...options, ...(query as object) }),
  },
  'GET /media/{id}/playback': { run: ({ media }, { id, options }) => media.playback(id, options) },
  'GET /media/{id}/download-url': { run: ({ media }, { id, options }) => media.downloadUrl(id, options) },
  'GET /media/{id}/timeline': {
    query: PAGE,
    run: ({ media }, { id, query, options }) => media.timeline(id, query, options).page(),
  },
  'GET /media/{id}/captions': { run: ({ captions }, { id, options }) => captions.list(id, options).page() },
  'GET /usage': { query: ['owner_user_id'], run: ({ usage }, { options }) => usage.get(options) },
};

/** Undefined: the SDK cannot express the request, and it has to be sent as it is. */
export async function callBySdk(call: RawCall): Promise<RecordedCall | undefined> {
  const found = findOperation(call);
  const values = found && toValues(call, found);
  const mediary = values && openMediary(call.url, call.headers);
  if (!mediary) {
    sent.raw += 1;
    return undefined;
  }
  const recorded = await recordExchanges(() => found.operation.run(mediary, values));
  const [exchange, ...others] = recorded.exchanges;
  if (!exchange || others.length > 0) throw new Error('one call of the SDK is one request');
  return toAnswer(exchange, recorded);
}

type Found = { readonly operation: Operation; readonly id: string };

function findOperation({ method, url }: RawCall): Found | undefined {
  const [, path = ''] = new URL(url).pathname.split('/api/v1');
  const exact = OPERATIONS[`${method} ${path}`];
  if (exact) return { operation: exact, id: '' };
  const [, part = '', rest = ''] = /^\/media\/([^/]+)(\/[a-z-]+)?$/.exec(path) ?? [];
  const operation = OPERATIONS[`${method} /media/{id}${rest}`];
  const id = decodeURIComponent(part);
  return operation && id && encodeURIComponent(id) === part ? { operation, id } : undefined;
}

function toValues(call: RawCall, { operation, id }: Found): Values | undefined {
  const { searchParams } = new URL(call.url);
  const { owner_user_id: owner, ...query } = Object.fromEntries(searchParams);
  const names = [...searchParams.keys()];
  const isKnown =
    new Set(names).size === names.length && names.every((name) => operation.query?.includes(name));
  const body = call.json ?? {};
  if (!isKnown || !isPlain(body) || call.body !== undefined) return undefined;
  const { owner_user_id: ownerInBody, ...json } = body;
  if ('owner_user_id' in body && !isOwner(ownerInBody)) return undefined;
  if (!operation.hasBody && Object.keys(json).length > 0) return undefined;
  const options = toOptions(call, (ownerInBody as string | undefined) ?? owner);
  return options && { id, json: json as never, query, options };
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isOwner = (value: unknown): boolean => typeof value === 'string' || Number.isSafeInteger(value);

/** Undefined if a header has no option. */
function toOptions({ headers = {} }: RawCall, ownerUserId: string | undefined): SdkOptions | undefined {
  const { authorization, 'x-service-key': key, 'idempotency-key': idempotencyKey, ...others } = headers;
  const { 'if-match': version, ...unknown } = others;
  const [, ifMatch] = /^"(\d+)"$/.exec(version ?? '') ?? [];
  if (Object.keys(unknown).length > 0 || (version !== undefined && ifMatch === undefined)) return undefined;
  return {
    ...(ownerUserId !== undefined && { ownerUserId }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
    ...(ifMatch !== undefined && { ifMatch: Number(ifMatch) }),
  };
}

/** A client that repeats nothing: tests see each response. Undefined for credentials that it cannot send. */
export function openMediary(url: string, headers: Record<string, string> = {}): Mediary | undefined {
  const { authorization, 'x-service-key': serviceKey } = headers;
  const [, token] = /^Bearer ([\w.-]+)$/.exec(authorization ?? '') ?? [];
  if (
    (authorization !== undefined && token === undefined) ||
    (token !== undefined && serviceKey !== undefined)
  )
    return undefined;
  const [baseUrl = ''] = url.split('/api/v1');
  return createMediary({ baseUrl, token, serviceKey, maxRetries: 0 });
}
