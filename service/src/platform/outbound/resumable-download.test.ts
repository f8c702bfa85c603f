// Tests that a download is complete and byte for byte right, wherever it is cut.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderHead } from '../../../../test/support/http/raw-http-server.ts';
import {
  CONTENT,
  cutAfter,
  download,
  open,
  rangesSince,
  readAll,
  source,
  useFaultySource,
} from '../../../../test/support/uploads/faulty-source.ts';

useFaultySource();
const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a download', () => {
  test('without faults is one request, and tells head, length and validator', async () => {
    const before = source.server.requests.length;
    source.plan.headers = { 'Content-Type': 'video/mp4' };
    const opened = await open();
    expect(opened).toMatchObject({ totalBytes: CONTENT.length, validator: '"v1"' });
    expect(opened.headers.get('content-type')).toBe('video/mp4');
    expect((await readAll(opened)).equals(CONTENT)).toBe(true);
    expect(rangesSince(before)).toEqual([undefined]);
  });

  test('continues where it was cut', async () => {
    const before = source.server.requests.length;
    source.plan.faults = [cutAfter(10_000), cutAfter(5000)];
    expect((await download()).equals(CONTENT)).toBe(true);
    expect(rangesSince(before)).toEqual([undefined, 'bytes=10000-', 'bytes=15000-']);
    expect(source.server.requests.at(-1)?.headers['if-range']).toBe('"v1"');
    expect(source.waits).toEqual([100, 100]);
  });

  test('continues by date where the server has no ETag', async () => {
    source.plan.etag = undefined;
    source.plan.headers = {
      'Last-Modified': 'Sun, 22 Nov 2026 05:00:00 GMT',
      Date: 'Sun, 22 Nov 2026 07:00:00 GMT',
    };
    source.plan.faults = [cutAfter(1)];
    expect((await download()).equals(CONTENT)).toBe(true);
  });

  test('of an empty file is complete', async () => {
    source.plan.content = Buffer.alloc(0);
    expect(await download()).toHaveLength(0);
  });

  test('takes parts that are shorter than what is left', async () => {
    const tenBytes = { ETag: '"v1"', 'Content-Range': 'bytes 100-109/40000', 'Content-Length': 10 };
    source.plan.faults = [
      cutAfter(100),
      () => ({
        raw: `${renderHead(206, tenBytes)}` + `${CONTENT.subarray(100, 110).toString('latin1')}`,
      }),
    ];
    const received = await download();
    expect(received).toHaveLength(CONTENT.length);
    expect(received.subarray(110).equals(CONTENT.subarray(110))).toBe(true);
  });

  test('continues an earlier one, from its offset', async () => {
    const before = source.server.requests.length;
    const opened = await open({}, { offset: 30_000, validator: '"v1"', totalBytes: CONTENT.length });
    expect(opened.totalBytes).toBe(CONTENT.length);
    expect((await readAll(opened)).equals(CONTENT.subarray(30_000))).toBe(true);
    expect(rangesSince(before)).toEqual(['bytes=30000-']);
  });

  test('without a declared length continues as well', async () => {
    const half = CONTENT.subarray(0, 100).toString('latin1');
    const head = renderHead(200, { ETag: '"v1"', 'Transfer-Encoding': 'chunked' });
    source.plan.content = Buffer.from(CONTENT.toString('latin1').replace(/[^\x20-\x7e]/g, '.'));
    const start = source.plan.content.subarray(0, half.length).toString();
    source.plan.faults = [() => ({ raw: `${head}64\r\n${start}\r\n` })];
    expect((await download()).equals(source.plan.content)).toBe(true);
  });

  test('has the same bytes wherever it is cut', async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: CONTENT.length }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(cuts, async (offsets) => {
        source.plan.faults = offsets.map(cutAfter);
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
        source.plan.respectsIfRange = respectsIfRange;
        source.plan.faults = faults.map((each) => () => each);
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
