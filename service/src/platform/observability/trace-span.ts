// What a tracer does, without the library behind it: starts spans, which name their trace by a traceparent.

/** The process that writes a log line or sends a span. `instance`: new at each start. */
export type ProcessIdentity = {
  readonly instance: string;
  readonly host: string;
  readonly role: string;
  readonly version: string;
};

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Attributes have names of OpenTelemetry, or begin with `mediary.`. None is a secret or a URL. */
export type SpanStart = {
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'consumer';
  readonly attributes?: SpanAttributes;
};

export type TraceSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** The header by which others continue the trace (W3C Trace Context). */
  readonly traceparent: string;
  /** False where sampling leaves the trace out. */
  readonly isRecorded: boolean;
  /** For work that is repeated for as long as the span lasts: the same trace, without spans of its own. */
  unrecorded(): TraceSpan;
  annotate(attributes: SpanAttributes): void;
  /** With an error the span failed. */
  end(error?: unknown): void;
};

export type Tracer = {
  /** `parent`: a span of this process, or the traceparent of another one. An invalid one starts a trace. */
  start(span: SpanStart, parent: TraceSpan | string | undefined): TraceSpan;
  /** Sends what is left, within a time limit. */
  stop(): Promise<void>;
};
