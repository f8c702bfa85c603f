// What a proxy does to bodies, events, ranges and methods.
import { describe, expect, test } from 'vitest';
import type { ProbeResult } from './probe.ts';
import { judgeMethods, judgeRanges, judgeResponseBuffering } from './transfers.ts';

const reply = (status: number, more: object = {}): ProbeResult => ({
  status,
  headers: {},
  body: Buffer.alloc(0),
  chunks: [],
  headAfterMs: 1,
  certificate: undefined,
  ...more,
});
const SILENCE: ProbeResult = { failure: 'timeout', phase: 'response', code: undefined };

describe('response buffering', () => {
  const arriving = (...times: number[]) => reply(200, { chunks: times.map((atMs) => ({ atMs, bytes: 30 })) });

  test('shows in the time between the first and the last chunk', () => {
    expect(judgeResponseBuffering('x.response_buffering', arriving(0, 251, 502)).status).toBe('ok');
    expect(judgeResponseBuffering('x.response_buffering', arriving(0))).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('proxy_buffering off'),
    });
    const compressed = reply(200, { headers: { 'content-encoding': 'gzip' } });
    expect(judgeResponseBuffering('x.response_buffering', compressed).status).toBe('warning');
    expect(judgeResponseBuffering('x.response_buffering', SILENCE).status).toBe('not_checked');
  });
});

describe('ranges', () => {
  const body = Uint8Array.from({ length: 1000 }, (_, index) => (1000 + index) % 251);
  const headers = { 'content-range': 'bytes 1000-1999/65536' };
  const part = reply(206, { headers, body });
  const head = reply(200, { headers: { 'content-length': '65536' } });

  test('pass with the same bytes and the length of the file', () => {
    expect(judgeRanges('x.ranges', { part, head }).status).toBe('ok');
    expect(judgeRanges('x.ranges', { part: reply(200), head }).status).toBe('problem');
    const altered = reply(206, { headers, body: body.map((byte) => byte ^ 1) });
    expect(judgeRanges('x.ranges', { part: altered, head }).status).toBe('problem');
    expect(judgeRanges('x.ranges', { part, head: reply(200) }).status).toBe('warning');
  });
});

test('a method passes if the service itself answers', () => {
  const own = reply(404, { body: Buffer.from('{"success":false,"request_id":"x"}') });
  expect(judgeMethods('x.methods', [{ method: 'PUT', result: own }]).status).toBe('ok');
  const finding = judgeMethods('x.methods', [
    { method: 'PUT', result: own },
    { method: 'PATCH', result: reply(405) },
    { method: 'DELETE', result: reply(404) },
  ]);
  expect(finding).toMatchObject({ status: 'problem', message: expect.stringContaining('PATCH, DELETE') });
});
