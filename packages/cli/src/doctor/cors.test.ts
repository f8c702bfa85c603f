// Tests the findings about CORS.
import { describe, expect, test } from 'vitest';
import { checkCors } from './cors.ts';
import type { Exchange, Send } from './exchange.ts';

type Headers = Record<string, string>;

const ALLOWED: Headers = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers': '*',
  'access-control-expose-headers': '*',
};

/** A service that allows `https://app.test`, and every origin for playback, with other headers put over. */
const respond =
  (changes: Headers = {}, status = 204): Send =>
  async (url) => {
    const origin = url.includes('/playback/') ? '*' : 'https://app.test';
    return {
      status,
      headers: { 'access-control-allow-origin': origin, ...ALLOWED, ...changes },
      body: Buffer.alloc(0),
      headAtMs: 1,
      chunks: [],
      certificate: undefined,
    } satisfies Exchange;
  };
const check = async (send: Send, origin?: string) => {
  const findings = await checkCors(send, { url: 'https://media.test', origin });
  return Object.fromEntries(
    findings.map(({ check: name, status, message }) => [name, `${status}: ${message}`]),
  );
};

describe('CORS', () => {
  test('is in order where origin, method and headers are allowed', async () => {
    const findings = Object.values(await check(respond(), 'https://app.test'));
    expect(findings).toHaveLength(4);
    for (const finding of findings) expect(finding).toMatch(/^ok/);
  });

  test.each([
    ['preflights that the proxy answers', respond({}, 405), /status 405/],
    ['a second header of the proxy', respond({ 'access-control-allow-origin': '*, *' }), /two values/],
    ['a missing method', respond({ 'access-control-allow-methods': 'GET, POST' }), /does not allow PATCH/],
    ['missing exposed headers', respond({ 'access-control-expose-headers': 'ETag' }), /upload-offset/],
    ['missing request headers', respond({ 'access-control-allow-headers': 'content-type' }), /tus-resumable/],
  ])('finds %s', async (_name, send, message) => {
    const findings = await check(send, 'https://app.test');
    expect(findings['cors.resumable_upload']).toMatch(message);
  });

  test('finds an origin that is not listed, but lets it play', async () => {
    const findings = await check(respond(), 'https://other.test');
    expect(findings['cors.upload']).toMatch(/^problem: Only https:\/\/app\.test is allowed/);
    expect(findings['cors.playback']).toMatch(/^ok/);
  });
});
