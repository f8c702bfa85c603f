// Tests that a download is complete and byte for byte right, whatever is cut or changed.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type RawRequest,
  type RawServer,
  renderHead,
  startRawServer,
} from '../../../../test/support/raw-http-server.ts';
import { createGuardedFetch } from './guarded-fetch.ts';
import type { ResumePoint } from './range-response.ts';
import { type Download, type DownloadNeeds, openDownload } from './resumable-download.ts';

const CONTENT = Buffer.from(Array.from({ length: 40_000 }, (_, index) => (index * 7 + (index >> 8)) % 256));

/** What the server does, and the faults of each response in order; a response without a fault is complete. */
type Plan = {
  content: Buffer;
  etag: string | undefined;
  headers: Record<string, string | number>;
  respectsRange: boolean;
  respectsIfRange: boolean;
  faults: ((request: RawRequest) => Fault)[];
};
type Fault = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | number>>;
  /** Bytes of the body after which the connection is cut. */
  readonly cutAfter?: number;
  /** Replaces head and body. */
  readonly raw?: string;
};

let server: RawServer;
let plan: Plan;
let waits: number[];

beforeAll(async () => {
  server = await startRawServer((socket, request) => {
    const fault = plan.faults.shift()?.(request) ?? {};
    if (fault.raw !== undefined) return void socket.end(fault.raw);
    const { head, body } = respond(request, fault);
    if (fault.cutAfter === undefined) return void socket.end(Buffer.concat([head, body]));
    socket.write(Buffer.concat([head, body.subarray(0, fault.cutAfter)]), () => socket.destroySoon());
  });
});
afterAll(() => server.stop());
beforeEach(() => {
  plan = {
    content: CONTENT,
    etag: '"v1"',
    headers: {},
    respectsRange: true,
    respectsIfRange: true,
    faults: [],
  };
  waits = [];
});

function respond({ headers }: RawRequest, fault: Fault): { head: Buffer; body: Buffer } {
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

const MAX_BYTES = 100_000;

function open(
  changed: Partial<DownloadNeeds> = {},
  from?: ResumePoint,
  signal?: AbortSignal,
): Promise<Download> {
  return openDownload(
    { url: `http://127.0.0.1:${server.port}/a.mp4`, from, ...(signal && { signal }) },
    {
      fetch: createGuardedFetch({ allowPrivate: true, limits: { maxBodyBytes: MAX_BYTES, idleMs: 2000 } }),
      wait: async (ms) => void waits.push(ms),
      random: () => 1,
      now: () => new Date('2026-11-22T07:00:00Z'),
      maxBytes: MAX_BYTES,
      retries: { maxRetries: 3, baseDelayMs: 100, maxDelayMs: 1000, progressBytes: 1 },
      ...changed,
    },
  );
}

async function readAll(download: Download, received: Buffer[] = []): Promise<Buffer> {
  for await (const chunk of download.body) received.push(chunk);
  return Buffer.concat(received);
}

const download = async (changed?: Partial<DownloadNeeds>) => readAll(await open(changed));
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const cutAfter =
  (bytes: number): (() => Fault) =>
  () => ({ cutAfter: bytes });
const rangesSince = (count: number) => server.requests.slice(count).map(({ headers }) => headers['range']);

describe('a download', () => {
  test('without faults is one request, and tells head, length and validator', async () => {
    const before = server.requests.length;
    plan.headers = { 'Content-Type': 'video/mp4' };
    const opened = await open();
    expect(opened).toMatchObject({ totalBytes: CONTENT.length, validator: '"v1"' });
    expect(opened.headers.get('content-type')).toBe('video/mp4');
    expect((await readAll(opened)).equals(CONTENT)).toBe(true);
    expect(rangesSince(before)).toEqual([undefined]);
  });

  test('continues where it was cut', async () => {
    const before = server.requests.length;
    plan.faults = [cutAfter(10_000), cutAfter(5000)];
    expect((await download()).equals(CONTENT)).toBe(true);
    expect(rangesSince(before)).toEqual([undefined, 'bytes=10000-', 'bytes=15000-']);
    expect(server.requests.at(-1)?.headers['if-range']).toBe('"v1"');
    expect(waits).toEqual([100, 100]);
  });

  test('continues by date where the server has no ETag', async () => {
    plan.etag = undefined;
    plan.headers = {
      'Last-Modified': 'Sun, 22 Nov 2026 05:00:00 GMT',
      Date: 'Sun, 22 Nov 2026 07:00:00 GMT',
    };
    plan.faults = [cutAfter(1)];
    expect((await download()).equals(CONTENT)).toBe(true);
  });

  test('of an empty file is complete', async () => {
    plan.content = Buffer.alloc(0);
    expect(await download()).toHaveLength(0);
  });

  test('takes parts that are shorter than what is left', async () => {
    plan.faults = [
      cutAfter(100),
      () => ({
        raw: `${renderHead(206, { ETag: '"v1"', 'Content-Range': 'bytes 100-109/40000', 'Content-Length': 10 })}${CONTENT.subarray(100, 110).toString('latin1')}`,
      }),
    ];
    const received = await download();
    expect(received).toHaveLength(CONTENT.length);
    expect(received.subarray(110).equals(CONTENT.subarray(110))).toBe(true);
  });

  test('continues an earlier one, from its offset', async () => {
    const before = server.requests.length;
    const opened = await open({}, { offset: 30_000, validator: '"v1"', totalBytes: CONTENT.length });
    expect(opened.totalBytes).toBe(CONTENT.length);
    expect((await readAll(opened)).equals(CONTENT.subarray(30_000))).toBe(true);
    expect(rangesSince(before)).toEqual(['bytes=30000-']);
  });

  test('without a declared length continues as well', async () => {
    const half = CONTENT.subarray(0, 100).toString('latin1');
    const head = renderHead(200, { ETag: '"v1"', 'Transfer-Encoding': 'chunked' });
    plan.content = Buffer.from(CONTENT.toString('latin1').replace(/[^\x20-\x7e]/g, '.'));
    const start = plan.content.subarray(0, half.length).toString();
    plan.faults = [() => ({ raw: `${head}64\r\n${start}\r\n` })];
    expect((await download()).equals(plan.content)).toBe(true);
  });

  test('has the same bytes wherever it is cut', async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: CONTENT.length }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (offsets) => {
        plan.faults = offsets.map(cutAfter);
        const received = await download({ retries: { maxRetries: 10, baseDelayMs: 1 } });
        expect(digest(received)).toBe(digest(CONTENT));
      }),
      { numRuns: 60 },
    );
  });

  test('has the right bytes, or asks for a restart, whatever the server does in between', async () => {
    const fault = fc.record(
      {
        cutAfter: fc.integer({ min: 0, max: CONTENT.length - 1 }),
        status: fc.constantFrom(200, 206, 416, 500, 503),
        headers: fc.constantFrom<Record<string, string | number>>(
          { ETag: '"v2"' },
          { ETag: 'W/"v1"' },
          { 'Content-Range': 'bytes 0-39999/40000' },
          { 'Content-Range': 'bytes 7-39999/40000' },
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 5 }), fc.boolean(), async (faults, respectsIfRange) => {
        plan.respectsIfRange = respectsIfRange;
        plan.faults = faults.map((each) => () => each);
        const received: Buffer[] = [];
        try {
          const opened = await open({ retries: { maxRetries: 10, baseDelayMs: 1 } });
          expect(digest(await readAll(opened, received))).toBe(digest(CONTENT));
        } catch (error) {
          expect(error).toMatchObject({
            reason: expect.stringMatching(/^(?:restart_required|http_status)$/),
          });
          const soFar = Buffer.concat(received);
          expect(soFar.equals(CONTENT.subarray(0, soFar.length))).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe('a restart is required', () => {
  const failure = () => expect(download()).rejects.toMatchObject({ reason: 'restart_required' });
  const change = (): Fault => {
    plan.etag = '"v2"';
    plan.content = Buffer.from(CONTENT).reverse();
    return {};
  };

  test('when the content has changed', async () => {
    plan.faults = [cutAfter(10_000), change];
    await failure();
  });

  test('when the content has changed and the server ignores If-Range', async () => {
    plan.respectsIfRange = false;
    plan.faults = [cutAfter(10_000), change];
    await failure();
  });

  test('when the server ignores ranges', async () => {
    plan.respectsRange = false;
    plan.faults = [cutAfter(10_000)];
    await failure();
  });

  test.each([
    ['no validator', undefined, {}],
    ['a weak ETag', 'W/"v1"', {}],
    ['no ranges', '"v1"', { 'Accept-Ranges': 'none' }],
  ])('when the server offers %s', async (_what, etag, headers) => {
    Object.assign(plan, { etag, headers });
    for (const bytes of [0, 10_000]) {
      const before = server.requests.length;
      plan.faults = [cutAfter(bytes)];
      await failure();
      expect(rangesSince(before)).toEqual([undefined]);
    }
  });

  test.each([412, 416])('when the server answers %j', async (status) => {
    plan.faults = [cutAfter(10_000), () => ({ status })];
    await failure();
  });

  test('when an earlier download cannot be continued', async () => {
    const from = { offset: 30_000, validator: '"v0"', totalBytes: CONTENT.length };
    await expect(open({}, from)).rejects.toMatchObject({ reason: 'restart_required' });
  });
});

describe('a failure', () => {
  test('that is transient is retried with backoff, before the first byte as well', async () => {
    plan.faults = [
      () => ({ status: 503, headers: { 'Retry-After': '1' } }),
      () => ({ raw: '' }),
      cutAfter(0),
    ];
    expect((await download()).equals(CONTENT)).toBe(true);
    expect(waits).toEqual([1000, 200, 400]);
  });

  test('is thrown when the retries are used up', async () => {
    plan.faults = Array.from({ length: 9 }, () => cutAfter(0));
    await expect(download()).rejects.toMatchObject({ reason: 'connection_lost' });
    expect(plan.faults).toHaveLength(5);
  });

  test.each([204, 206, 301, 404, 410, 501])('of status %j is final', async (status) => {
    plan.faults = [() => ({ status })];
    await expect(open()).rejects.toMatchObject({ reason: 'http_status', status });
    expect(waits).toEqual([]);
  });

  test('of status 404 while it continues is final', async () => {
    plan.faults = [cutAfter(10), () => ({ status: 404 })];
    await expect(download()).rejects.toMatchObject({ reason: 'http_status', status: 404 });
  });

  test('is a size over the maximum, declared or not, in one response or several', async () => {
    await expect(open({ maxBytes: CONTENT.length - 1 })).rejects.toMatchObject({ reason: 'too_large' });
    plan.faults = [() => ({ raw: `${renderHead(200)}hello` })];
    await expect(download({ maxBytes: 4 })).rejects.toMatchObject({ reason: 'too_large' });
    const from = { offset: 1, validator: '"v1"', totalBytes: undefined };
    await expect(open({ maxBytes: CONTENT.length - 1 }, from)).rejects.toMatchObject({ reason: 'too_large' });
  });

  test('is a part that is longer than its range', async () => {
    const head = { ETag: '"v1"', 'Content-Range': 'bytes 10-12/40000', 'Transfer-Encoding': 'chunked' };
    plan.faults = [cutAfter(10), () => ({ raw: `${renderHead(206, head)}5\r\nhello\r\n0\r\n\r\n` })];
    await expect(download()).rejects.toMatchObject({ reason: 'invalid_response', detail: 'too_long' });
  });

  test('is the signal of the caller, also during a wait', async () => {
    const controller = new AbortController();
    plan.faults = [cutAfter(10)];
    const wait = async () => {
      controller.abort();
      throw controller.signal.reason;
    };
    const opened = await open({ wait }, undefined, controller.signal);
    await expect(readAll(opened)).rejects.toMatchObject({ reason: 'aborted' });
  });
});

test('a download that is refused or not read to its end releases its connection', async () => {
  const closed: Promise<void>[] = [];
  const slow = await startRawServer((socket, { path }) => {
    closed.push(new Promise((resolve) => socket.once('close', () => resolve())));
    socket.write(`${renderHead(path === '/' ? 200 : 404, { 'Content-Length': 100 })}hello`);
  });
  const url = `http://127.0.0.1:${slow.port}/`;
  const needs = {
    fetch: createGuardedFetch({ allowPrivate: true }),
    wait: async () => {},
    random: () => 1,
    now: () => new Date(),
    maxBytes: MAX_BYTES,
  };
  const [unread, partlyRead] = [await openDownload({ url }, needs), await openDownload({ url }, needs)];
  unread.close();
  for await (const _chunk of partlyRead.body) break;
  await expect(openDownload({ url: `${url}missing` }, needs)).rejects.toMatchObject({ status: 404 });
  expect(closed).toHaveLength(3);
  await Promise.all(closed);
  await slow.stop();
});
