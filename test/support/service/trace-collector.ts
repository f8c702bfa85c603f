// A collector of traces on loopback, which receives OTLP as the service sends it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

type Attributes = Readonly<Record<string, unknown>>;

export type CollectedSpan = {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Attributes;
  /** 2: an error. */
  readonly status: number;
  /** Of the process that has sent it. */
  readonly resource: Attributes;
};

export type TraceCollector = {
  readonly endpoint: string;
  readonly spans: () => readonly CollectedSpan[];
  /** The bodies of all requests. */
  readonly bodies: () => readonly string[];
  readonly stop: () => Promise<void>;
};

type OtlpAttribute = { readonly key: string; readonly value: Attributes };
type OtlpSpan = Omit<CollectedSpan, 'attributes' | 'status' | 'resource'> & {
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
};
type OtlpTraces = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
};

const toAttributes = (list: readonly OtlpAttribute[]): Attributes =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));

const toSpans = ({ resourceSpans }: OtlpTraces): CollectedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        ...span,
        attributes: toAttributes(span.attributes),
        status: span.status.code ?? 0,
        resource: toAttributes(resource.attributes),
      })),
    ),
  );

export async function startTraceCollector(): Promise<TraceCollector> {
  const received: OtlpTraces[] = [];
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/traces') received.push((await json(request)) as OtlpTraces);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    spans: () => received.flatMap(toSpans),
    bodies: () => received.map((body) => JSON.stringify(body)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
