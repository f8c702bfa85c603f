// A server that cuts, changes and delays what it sends, and downloads from it.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type RawRequest, type RawServer, renderHead, startRawServer } from '../http/raw-http-server.ts';
import { createGuardedFetch } from '../../../service/src/platform/outbound/guarded-fetch.ts';
import type { ResumePoint } from '../../../service/src/platform/outbound/range-response.ts';
import {
  type Download,
  type DownloadOptions,
  openDownload,
} from '../../../service/src/platform/outbound/resumable-download.ts';

export const CONTENT = Buffer.from(
  Array.from({ length: 40_000 }, (_, index) => (index * 7 + (index >> 8)) % 256),
);

/** What the server does, and the faults of each response in order; a response without a fault is complete. */
type Plan = {
  content: Buffer;
  etag: string | undefined;
  headers: Record<string, string | number>;
  respectsRange: boolean;
  respectsIfRange: boolean;
  faults: ((request: RawRequest) => Fault)[];
};
export type Fault = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Bytes of the body after which the connection is cut. */
  readonly cutAfter?: number;
  /** Replaces head and body. */
  readonly raw?: string;
};

/** The server of the running test, its plan, and the waits of the download in milliseconds. */
export const source = { waits: [] as number[] } as { server: RawServer; plan: Plan; waits: number[] };

/** Registers the hooks that start the server and reset the plan. */
export function useFaultySource(): void {
  beforeAll(async () => {
    source.server = await startRawServer((socket, request) => {
      const fault = source.plan.faults.shift()?.(request) ?? {};
      if (fault.raw !== undefined) return void socket.end(fault.raw);
      const { head, body } = respond(request, fault);
      if (fault.cutAfter === undefined) return void socket.end(Buffer.concat([head, body]));
      socket.write(Buffer.concat([head, body.subarray(0, fault.cutAfter)]), () => socket.destroySoon());
    });
  });
  afterAll(() => source.server.stop());
  beforeEach(() => {
    source.plan = {
      content: CONTENT,
      etag: '"v1"',
      headers: {},
      respectsRange: true,
      respectsIfRange: true,
      faults: [],
    };
    source.waits = [];
  });
}

function respond({ headers }: RawRequest, fault: Fault): { head: Buffer; body: Buffer } {
  const { plan } = source;
  const { content, etag } = plan;
  const start = Number(/^bytes=(\d+)-$/.exec(headers['range'] ?? '')?.[1] ?? Number.NaN);
  const isSame = !plan.respectsIfRange || headers['if-range'] === (etag ?? plan.headers['Last-Modified']);
  const isPart = plan.respectsRange && !Number.isNaN(start) && isSame;
  const body = isPart ? content.subarray(start) : content;
  const head = {
    'Content-Length': body.length,
    ...(etag !== undefined && { ETag: etag }),
    ...(isPart && { 'Content-Range': `bytes ${start}-${content.length - 1}/${content.length}` }),
    ...plan.headers,
    ...fault.headers,
  };
  return { head: Buffer.from(renderHead(fault.status ?? (isPart ? 206 : 200), head)), body };
}

export const MAX_BYTES = 100_000;

export function open(
  changed: Partial<DownloadOptions> = {},
  from?: ResumePoint,
  signal?: AbortSignal,
): Promise<Download> {
  return openDownload(
    { url: `http://127.0.0.1:${source.server.port}/a.mp4`, from, ...(signal && { signal }) },
    {
      fetch: createGuardedFetch({ allowPrivate: true, limits: { maxBodyBytes: MAX_BYTES, idleMs: 2000 } }),
      wait: async (ms) => void source.waits.push(ms),
      random: () => 1,
      now: () => new Date('2026-11-22T07:00:00Z'),
      maxBytes: MAX_BYTES,
      retries: { maxRetries: 3, baseDelayMs: 100, maxDelayMs: 1000, progressBytes: 1 },
      ...changed,
    },
  );
}

export async function readAll(download: Download, received: Buffer[] = []): Promise<Buffer> {
  for await (const chunk of download.body) received.push(chunk);
  return Buffer.concat(received);
}

export const download = async (changed?: Partial<DownloadOptions>) => readAll(await open(changed));
export const cutAfter =
  (bytes: number): (() => Fault) =>
  () => ({ cutAfter: bytes });
export const rangesSince = (count: number) =>
  source.server.requests.slice(count).map(({ headers }) => headers['range']);
