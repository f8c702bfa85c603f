// Downloads a URL as a stream of bytes that continues after a cut, or says that it has to start again from
// byte 0.
import { parseRetryAfter } from './http-client.ts';
import type { OutboundFetch, OutboundRequest, OutboundResponse } from './guarded-fetch.ts';
import { OutboundError } from './outbound-error.ts';
import { type ResumePoint, toContinuation, toValidator } from './range-response.ts';
import {
  createRetryBudget,
  DEFAULT_RETRY_LIMITS,
  type RetryBudget,
  type RetryLimits,
} from './retry-budget.ts';

type DownloadRequest = Pick<OutboundRequest, 'url' | 'headers' | 'signal'> & {
  /** Continues an earlier download; `offset` is less than its total. */
  readonly from?: ResumePoint | undefined;
};

export type DownloadOptions = {
  readonly fetch: OutboundFetch;
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  readonly random: () => number;
  readonly now: () => Date;
  /** Limit of the whole file, also where the server does not declare its length. */
  readonly maxBytes: number;
  readonly retries?: Partial<RetryLimits>;
};

/**
 * `url` and `headers` are those of the first response; `validator` undefined: the download cannot be resumed.
 */
export type Download = {
  readonly url: string;
  readonly headers: Headers;
  readonly totalBytes: number | undefined;
  readonly validator: string | undefined;
  /** To be read once. Throws OutboundError: `restart_required` if the bytes so far cannot be continued. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends a download that is not read. */
  close(): void;
};

type Session = {
  readonly request: DownloadRequest;
  readonly options: DownloadOptions;
  readonly budget: RetryBudget;
  offset: number;
  validator: string | undefined;
  totalBytes: number | undefined;
};
/** `end`: offset after the last byte of this response; undefined: not declared. */
type DownloadPart = { readonly response: OutboundResponse; readonly end: number | undefined };

/** Retries transient failures. Throws OutboundError. */
export async function openDownload(request: DownloadRequest, options: DownloadOptions): Promise<Download> {
  const session: Session = {
    request,
    options,
    budget: createRetryBudget({ ...DEFAULT_RETRY_LIMITS, ...options.retries }, options.random),
    offset: request.from?.offset ?? 0,
    validator: request.from?.validator,
    totalBytes: request.from?.totalBytes,
  };
  const isResumed = request.from !== undefined;
  const part = await openPart(session, isResumed);
  const { url, headers } = part.response;
  const { totalBytes, validator } = session;
  const close = () => void part.response.body.destroy();
  return { url, headers, totalBytes, validator, body: readParts(session, part), close };
}

async function* readParts(session: Session, firstPart: DownloadPart): AsyncGenerator<Buffer, void, void> {
  for (let part = firstPart; ; part = await openPart(session, true)) {
    try {
      yield* readPart(session, part);
      if (isComplete(session)) return;
      // Counts as a failure, or a server could answer byte by byte.
      throw new OutboundError('connection_lost', { detail: 'short_range' });
    } catch (error) {
      const delayMs = getRetryDelay(session, error);
      if (session.validator === undefined) throw new OutboundError('restart_required', { cause: error });
      await waitForRetry(session, delayMs);
    }
  }
}

async function* readPart(
  session: Session,
  { response, end }: DownloadPart,
): AsyncGenerator<Buffer, void, void> {
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    const offset = session.offset + chunk.length;
    if (offset > session.options.maxBytes) throw new OutboundError('too_large');
    if (end !== undefined && offset > end)
      throw new OutboundError('invalid_response', { detail: 'too_long' });
    session.offset = offset;
    yield chunk;
  }
  if (end !== undefined && session.offset < end)
    throw new OutboundError('connection_lost', { detail: 'short_body' });
}

/** A chunked body proves its end; a body without any length ends with its connection. */
const isComplete = ({ offset, totalBytes }: Session): boolean =>
  totalBytes === undefined || offset === totalBytes;

async function openPart(session: Session, isContinued: boolean): Promise<DownloadPart> {
  for (;;) {
    try {
      const response = await session.options.fetch(toRequest(session, isContinued));
      return acceptPart(session, { response, isContinued });
    } catch (error) {
      await waitForRetry(session, getRetryDelay(session, error));
    }
  }
}

/** Starts at the first URL again: the target of a redirect may have expired. */
function toRequest({ request, offset, validator }: Session, isContinued: boolean): OutboundRequest {
  const { url, headers, signal } = request;
  const range = isContinued && { range: `bytes=${offset}-`, 'if-range': validator ?? '' };
  return { url, signal, headers: { ...headers, ...range } };
}

function acceptPart(
  session: Session,
  { response, isContinued }: { response: OutboundResponse; isContinued: boolean },
): DownloadPart {
  try {
    assertUsable(response, { isContinued, now: session.options.now() });
    return isContinued ? acceptContinuation(session, response) : acceptStart(session, response);
  } catch (error) {
    response.body.destroy();
    throw error;
  }
}

function acceptStart(session: Session, response: OutboundResponse): DownloadPart {
  const { headers } = response;
  const length = headers.get('content-length');
  session.totalBytes = length === null ? undefined : Number(length);
  session.validator = toValidator(headers);
  if ((session.totalBytes ?? 0) > session.options.maxBytes) throw new OutboundError('too_large');
  return { response, end: session.totalBytes };
}

function acceptContinuation(session: Session, response: OutboundResponse): DownloadPart {
  const { offset, validator = '', totalBytes } = session;
  const continuation = toContinuation(response, { offset, validator, totalBytes });
  if (!continuation) throw new OutboundError('restart_required', { detail: 'changed' });
  session.totalBytes = continuation.totalBytes;
  if (session.totalBytes > session.options.maxBytes) throw new OutboundError('too_large');
  return { response, end: offset + continuation.partBytes };
}

/** 416 and 412 refuse the range or the validator; a 200 sends everything again. */
function assertUsable(
  { status, headers }: OutboundResponse,
  { isContinued, now }: { isContinued: boolean; now: Date },
): void {
  const isUsable = isContinued ? [200, 206, 412, 416].includes(status) : status === 200;
  if (!isUsable)
    throw new OutboundError('http_status', { status, retryAfterSeconds: parseRetryAfter(headers, now) });
}

/** Throws the error itself where no further attempt follows. */
function getRetryDelay({ budget, offset }: Session, error: unknown): number {
  const delayMs = error instanceof OutboundError ? budget.nextDelayMs(error, offset) : undefined;
  if (delayMs === undefined) throw error;
  return delayMs;
}

async function waitForRetry({ options, request: { signal } }: Session, delayMs: number): Promise<void> {
  try {
    await options.wait(delayMs, signal);
  } catch (cause) {
    throw signal?.aborted ? new OutboundError('aborted', { cause }) : cause;
  }
}
