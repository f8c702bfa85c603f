// The current request or job of each call, for logs and traces. Without a tracer spans cost nothing.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { openTracer } from './open-telemetry.ts';
import type { SpanAttributes, SpanStart, Tracer, TraceSpan } from './trace-span.ts';

/** What a call belongs to. It ends before work that the call has left in the background. */
export type TraceScope = {
  readonly requestId: string | undefined;
  readonly span: TraceSpan | undefined;
  /** Spans below the one of the request or job. */
  readonly counter: SpanCounter;
  isOver: boolean;
};

type SpanCounter = { spans: number };

/** For each request and run of a job: collectors cut off traces of many thousands of spans. */
const MAX_SPANS = 1000;

const scopes = new AsyncLocalStorage<TraceScope | undefined>();
let tracer: Tracer | undefined;

type TracingOptions = Omit<Parameters<typeof openTracer>[0], 'endpoint'>;

/** Loads the library only where traces are sent. Returns what sends the last ones and ends tracing. */
export async function startTracing({ settings, ...options }: TracingOptions): Promise<() => Promise<void>> {
  const { endpoint } = settings;
  if (endpoint === undefined) return async () => {};
  const { openTracer } = await import('./open-telemetry.ts');
  const started = openTracer({ endpoint, settings, ...options });
  tracer = started;
  return async () => {
    tracer = undefined;
    await started.stop();
  };
}

/** A span of what a request or job waits for. There is none outside of them. */
export function spanned<T>(start: SpanStart, work: () => Promise<T>): Promise<T> {
  const outer = findRecorded();
  return outer ? runSpan(outer.scope, work, outer.tracer.start(start, outer.span)) : work();
}

/** A span for which `work` is no promise; undefined outside of requests and jobs. */
export function startSpan(start: SpanStart): Pick<TraceSpan, 'end'> | undefined {
  const outer = findRecorded();
  return outer?.tracer.start(start, outer.span);
}

/** A span that another process has caused by `traceparent`; without one it starts a trace. */
export const continueTrace = <T>(
  start: SpanStart,
  traceparent: string | null | undefined,
  work: () => Promise<T>,
): Promise<T> =>
  tracer
    ? runSpan(
        { requestId: undefined, counter: { spans: 0 } },
        work,
        tracer.start(start, traceparent ?? undefined),
      )
    : work();

function findRecorded() {
  if (!tracer) return undefined;
  const scope = scopes.getStore();
  if (!scope?.span?.isRecorded || scope.isOver || scope.counter.spans >= MAX_SPANS) return undefined;
  scope.counter.spans += 1;
  return { tracer, span: scope.span, scope };
}

async function runSpan<T>(
  { requestId, counter }: Pick<TraceScope, 'requestId' | 'counter'>,
  work: () => Promise<T>,
  span: TraceSpan,
): Promise<T> {
  const scope: TraceScope = { requestId, span, counter, isOver: false };
  try {
    const result = await scopes.run(scope, work);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  } finally {
    scope.isOver = true;
  }
}

/** Polls and reports of progress would be thousands of spans of one long job. */
export function withoutSpans<T>(work: () => T): T {
  const scope = tracer && scopes.getStore();
  return scope?.span ? scopes.run({ ...scope, span: scope.span.unrecorded() }, work) : work();
}

/** The traceparent of the current span, to be stored or sent with what it causes. */
export const currentTraceparent = (): string | undefined =>
  tracer === undefined ? undefined : scopes.getStore()?.span?.traceparent;

/** A header of requests to programs of the operator and of callers, which may see trace ids. */
export function traceHeaders(): { readonly traceparent?: string } {
  const traceparent = currentTraceparent();
  return traceparent === undefined ? {} : { traceparent };
}

/** Adds attributes to the current span. */
export function annotateSpan(attributes: SpanAttributes): void {
  if (tracer) scopes.getStore()?.span?.annotate(attributes);
}

/** For a request; the caller ends it with `endScope`. `describe` returns undefined if it has no span. */
export const openScope = (
  requestId: string,
  describe: () => SpanStart | undefined,
  traceparent: string | undefined,
): TraceScope => {
  const start = tracer && describe();
  const span = start && tracer?.start(start, traceparent);
  return { requestId, span, counter: { spans: 0 }, isOver: false };
};

export const runInScope = <T>(scope: TraceScope | undefined, work: () => T): T =>
  scopes.getStore() === scope ? work() : scopes.run(scope, work);

export function endScope(scope: TraceScope, attributes: SpanAttributes, error?: unknown): void {
  scope.isOver = true;
  scope.span?.annotate(attributes);
  scope.span?.end(error);
}

/** For work that another call may start: the current scope; undefined without a tracer. */
export const captureScope = (): TraceScope | undefined => (tracer ? scopes.getStore() : undefined);

/** Members of a log line. */
export function describeScope(): object {
  const scope = scopes.getStore();
  if (scope === undefined || scope.isOver) return {};
  const { requestId, span } = scope;
  return {
    ...(requestId !== undefined && { request_id: requestId }),
    ...(span && { trace_id: span.traceId, span_id: span.spanId }),
  };
}
