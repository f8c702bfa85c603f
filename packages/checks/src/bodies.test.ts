// What a proxy does to the bodies of requests.
import { describe, expect, test } from 'vitest';
import type { ProbeResult } from './probe.ts';
import { judgeBodyLimit, judgeRequestBuffering } from './bodies.ts';

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
const context = { maxUploadBytes: 1e10, sentBytes: 2 ** 21, acceptedBytes: undefined, isDirect: false };

describe('the body limit', () => {
  test.each([
    ['passes', { announced: reply(200), sent: reply(200) }, 'ok'],
    ['passes in a buffering proxy', { announced: SILENCE, sent: reply(200) }, 'ok'],
    ['is announced', { announced: reply(413), sent: reply(200) }, 'problem'],
    ['is counted', { announced: reply(200), sent: reply(413) }, 'problem'],
    ['breaks the connection', { announced: SILENCE, sent: SILENCE }, 'problem'],
  ] as const)('%s', (_, probes, status) => {
    const finding = judgeBodyLimit('x.body_limit', probes, context);
    expect(finding.status).toBe(status);
    if (status !== 'ok') expect(finding.fix).toMatch(/client_max_body_size|log of the proxy/);
  });

  test('matters less where uploads go to the object store', () => {
    const probes = { announced: reply(413), sent: reply(200) };
    expect(judgeBodyLimit('x.body_limit', probes, { ...context, isDirect: true }).status).toBe('warning');
  });
});

describe('request buffering', () => {
  const echo = (...chunks: readonly [at_ms: number, bytes: number][]) => ({
    body_bytes: 0,
    chunks: chunks.map(([at_ms, bytes]) => ({ at_ms, bytes })),
  });

  test('shows in the first chunk and in the pause', () => {
    expect(judgeRequestBuffering('x.request_buffering', echo([0, 1024], [298, 65_536])).status).toBe('ok');
    expect(judgeRequestBuffering('x.request_buffering', echo([0, 65_536], [2, 65_536])).status).toBe(
      'warning',
    );
    expect(judgeRequestBuffering('x.request_buffering', echo([0, 1024], [1, 65_536])).status).toBe('warning');
    expect(judgeRequestBuffering('x.request_buffering', undefined).status).toBe('not_checked');
  });
});
