// The side of the service in a conformance run: serves sources and receives the reports of an encoder.
import { EventEmitter, on } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Secret } from '../auth/secret.ts';
import { checkOnpremSignature } from '../providers/onprem/onprem-signature.ts';

export type ReceivedReport = {
  readonly isSigned: boolean;
  /** The JSON object of the body; empty for anything else. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly atMs: number;
};

export type Listener = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly reports: readonly ReceivedReport[];
  /** Returns the URL of the bytes. */
  serve(name: string, bytes: Uint8Array): string;
  /** Answers the next `ready` of this asset with 503. */
  refuseReadyOnce(assetId: string): void;
  /** The first report that fits, also an earlier one; undefined when none comes in time. */
  waitFor(fits: (report: ReceivedReport) => boolean, timeoutMs: number): Promise<ReceivedReport | undefined>;
  stop(): void;
};

type ListenOptions = {
  readonly host: string;
  readonly port: number;
  /** Where the encoder reaches the listener; undefined: at its own address. */
  readonly publicUrl: string | undefined;
  readonly secret: Secret;
};

export const CALLBACK_PATH = '/api/v1/webhooks/stream/onprem';

export async function startListener({ host, port, publicUrl, secret }: ListenOptions): Promise<Listener> {
  const state = {
    secret,
    sources: new Map<string, Uint8Array>(),
    reports: [] as ReceivedReport[],
    refusing: new Set<string>(),
    arrivals: new EventEmitter(),
  };
  const server = createServer((request, response) => {
    handle(state, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const url = publicUrl ?? `http://${host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    reports: state.reports,
    serve: (name, bytes) => {
      state.sources.set(`/${name}`, bytes);
      return `${url}/${name}`;
    },
    refuseReadyOnce: (assetId) => void state.refusing.add(assetId),
    waitFor: (fits, timeoutMs) => waitFor(state, fits, timeoutMs),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

type ListenerState = {
  readonly secret: Secret;
  readonly sources: ReadonlyMap<string, Uint8Array>;
  readonly reports: ReceivedReport[];
  readonly refusing: Set<string>;
  readonly arrivals: EventEmitter;
};

async function handle(
  state: ListenerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = new URL(request.url ?? '/', 'http://listener').pathname;
  if (path === CALLBACK_PATH && request.method === 'POST') return receive(state, request, response);
  const source = state.sources.get(path);
  if (!source) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': source.length });
  response.end(request.method === 'HEAD' ? undefined : source);
}

async function receive(
  state: ListenerState,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const bytes = await buffer(request);
  const headers = (name: string) => request.headersDistinct[name] ?? [];
  const isSigned = checkOnpremSignature(headers, bytes, [state.secret]);
  const report = { isSigned, body: parseObject(bytes), atMs: performance.now() };
  const isRefused =
    report.body['status'] === 'ready' && state.refusing.delete(String(report.body['asset_id']));
  state.reports.push(report);
  state.arrivals.emit('report');
  const status = isRefused ? 503 : isSigned ? 200 : 401;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ success: status === 200, code: status, data: { processed: true } }));
}

function parseObject(bytes: Buffer): ReceivedReport['body'] {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === 'object' && value !== null ? (value as ReceivedReport['body']) : {};
  } catch {
    return {}; // The checks say what such a report lacks.
  }
}

async function waitFor(
  { reports, arrivals }: ListenerState,
  fits: (report: ReceivedReport) => boolean,
  timeoutMs: number,
): Promise<ReceivedReport | undefined> {
  const found = reports.find(fits);
  if (found) return found;
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    for await (const _ of on(arrivals, 'report', { signal })) {
      const arrived = reports.find(fits);
      if (arrived) return arrived;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}
