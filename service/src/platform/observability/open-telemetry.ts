// The tracer of OpenTelemetry, which sends spans to a collector as OTLP (JSON over HTTP).
import {
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  ROOT_CONTEXT,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { waitAtMost } from '../concurrency/in-flight.ts';
import type { TraceSettings } from './settings.ts';
import type { ProcessIdentity, SpanStart, Tracer, TraceSpan } from './trace-span.ts';

/** Spans above the limit are dropped: a collector that is down costs this memory, about 4 MB, and no more. */
const QUEUE = { maxQueueSize: 4096, maxExportBatchSize: 512, scheduledDelayMillis: 2000 };
const EXPORT_TIMEOUT_MS = 10_000;
const STOP_TIMEOUT_MS = 3000;
const SPAN_LIMITS = { attributeCountLimit: 32, attributeValueLengthLimit: 256 };

type TracerOptions = {
  readonly endpoint: string;
  readonly settings: TraceSettings;
  readonly identity: ProcessIdentity;
  /** Called when spans are lost. */
  readonly onError: (error: Error) => void;
};

export function openTracer({ endpoint, settings, identity, onError }: TracerOptions): Tracer {
  const url = `${endpoint}/v1/traces`;
  const exporter = reportErrors(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }), onError);
  const provider = new TracerProvider({
    resource: describeProcess(settings, identity),
    sampler: createSampler(settings),
    spanLimits: SPAN_LIMITS,
    spanProcessors: [new BatchSpanProcessor({ ...QUEUE, exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  });
  const tracer = provider.getTracer('mediary', identity.version);
  return {
    start: ({ name, kind, attributes = {} }, parent) =>
      wrapSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes }, toContext(parent))),
    stop: () => waitAtMost(STOP_TIMEOUT_MS, provider.shutdown().catch(onError)),
  };
}

/** The library itself is silent about failed exports. */
const reportErrors = (exporter: SpanExporter, onError: (error: Error) => void): SpanExporter => ({
  export: (spans, done) =>
    exporter.export(spans, (result) => {
      if (result.error) onError(result.error);
      done(result);
    }),
  shutdown: () => exporter.shutdown(),
});

/** OTEL_RESOURCE_ATTRIBUTES may add attributes and replace these. */
const describeProcess = (
  { serviceName }: TraceSettings,
  { instance, host, role, version }: ProcessIdentity,
) =>
  resourceFromAttributes({
    'service.name': 'mediary',
    'service.version': version,
    'service.instance.id': instance,
    'host.name': host,
    'mediary.role': role,
  })
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(serviceName === undefined ? {} : { 'service.name': serviceName }));

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} satisfies Record<SpanStart['kind'], SpanKind>;

function createSampler({ sampler, samplerRatio }: TraceSettings): Sampler {
  const kind = sampler.replace('parentbased_', '');
  const roots: Readonly<Record<string, () => Sampler>> = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(samplerRatio),
  };
  const root = (roots[kind] ?? (() => new AlwaysOnSampler()))();
  return sampler === kind ? root : new ParentBasedSampler({ root });
}

/** Version 00 of W3C Trace Context; later versions may add fields. Ids of zeros are invalid. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-[\x20-\x7e]{0,200})?$/;

function toContext(parent: TraceSpan | string | undefined): Context {
  const isRemote = typeof parent === 'string';
  const [, version, traceId, spanId, flags = '', more] =
    TRACEPARENT.exec((isRemote ? parent : parent?.traceparent) ?? '') ?? [];
  if (!traceId || !spanId || (version === '00' && more !== undefined)) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote });
}

function wrapSpan(span: Span): TraceSpan {
  const { traceId, spanId, traceFlags } = span.spanContext();
  const isSampled = (traceFlags & TraceFlags.SAMPLED) !== 0;
  return {
    traceId,
    spanId,
    traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
    isRecorded: span.isRecording(),
    unrecorded: () => wrapSpan(trace.wrapSpanContext({ traceId, spanId, traceFlags: TraceFlags.NONE })),
    annotate: (attributes) => span.setAttributes({ ...attributes }),
    end: (error) => {
      if (error !== undefined) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute('error.type', nameError(error));
      }
      span.end();
    },
  };
}

/** Never the message, which may quote the input. */
function nameError(error: unknown): string {
  const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
  return String(code ?? name ?? typeof error);
}
