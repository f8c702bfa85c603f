// What a response through the public URL says about the proxy in front of the service.
import type { EchoReport } from '@mediary/contract/schemas/admin/diagnostics';
import { describe, expect, test } from 'vitest';
import type { ProbeResult } from '@mediary/checks/probe';
import { judgeForwarded, judgePublicUrl } from './public-url.ts';

const expected = {
  baseUrl: 'https://media.example.com',
  requestId: 'own-id',
  isProof: (proof: string) => proof === 'proof',
};

const reply = (status: number, body: unknown, headers: Record<string, string> = {}): ProbeResult => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  chunks: [],
  headAfterMs: 1,
  certificate: undefined,
});
const envelope = (members: object) => ({ success: false, request_id: 'own-id', ...members });
const failure = (code: string, phase: 'connect' | 'response' = 'connect'): ProbeResult => ({
  failure: 'error',
  phase,
  code,
});
const refusal = (reason: string) => envelope({ error: { error_code: 'UNAUTHORIZED', details: { reason } } });

describe('the public URL', () => {
  test('leads to this deployment if the report is signed by it', () => {
    const signed = envelope({ success: true, data: { proof: 'proof' } });
    expect(judgePublicUrl(reply(200, signed), expected).status).toBe('ok');
    const copied = envelope({ success: true, data: { proof: 'other' } });
    expect(judgePublicUrl(reply(200, copied), expected).status).toBe('problem');
  });

  test.each<[string, ProbeResult, readonly [message: RegExp, fix: RegExp]]>([
    ['an unknown host', failure('ENOTFOUND'), [/cannot be resolved/, /DNS/]],
    ['a closed port', failure('ECONNREFUSED'), [/cannot be reached/, /Start the proxy/]],
    ['an expired certificate', failure('CERT_HAS_EXPIRED'), [/certificate/, /Renew/]],
    ['a missing intermediate', failure('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), [/certificate/, /whole chain/]],
    ['plain HTTP at the TLS port', failure('EPROTO'), [/does not speak https/, /scheme or the port/]],
    ['silence', { failure: 'timeout', phase: 'response', code: undefined }, [/in time/, /proxy/]],
    [
      'a redirect',
      reply(301, '', { location: 'https://www.example.com/secret?x=1' }),
      [/redirects requests to https:\/\/www\.example\.com \(301\)/, /PUBLIC_BASE_URL/],
    ],
    ['a proxy without the service', reply(502, '<h1>502</h1>'), [/does not reach/, /address and port/]],
    ["a proxy's own 503", reply(503, { ...envelope({}), request_id: 'x' }), [/does not reach/, /address/]],
    ['a password of the proxy', reply(401, 'Unauthorized'), [/credentials of its own/, /\/api\/v1\//]],
    ['another site', reply(200, '<html>'), [/Another service/, /Correct PUBLIC_BASE_URL/]],
    ['a changed path', reply(404, envelope({})), [/changes the path/, /proxy_pass/]],
    ['a dropped header', reply(401, refusal('missing')), [/removes request headers/, /headers/]],
    [
      'another deployment',
      reply(401, refusal('invalid_credential')),
      [/another URL signing/, /URL_SIGNING_SECRET/],
    ],
  ])('%s is a problem with a fix', (_, result, [message, fix]) => {
    const finding = judgePublicUrl(result, expected);
    expect(finding).toMatchObject({ check: 'public_url', status: 'problem' });
    expect(finding.message).toMatch(message);
    expect(finding.fix).toMatch(fix);
  });

  test('is not judged by an answer that a moment explains', () => {
    expect(judgePublicUrl(reply(429, envelope({})), expected).status).toBe('not_checked');
  });
});

describe('headers of proxies', () => {
  const echo = (headers: Record<string, string>, client = '192.0.2.7') =>
    ({
      headers: { host: 'media.example.com', ...headers },
      peer_address: '10.0.0.5',
      client_address: client,
    }) as unknown as EchoReport;
  const context = { baseUrl: expected.baseUrl, hasTrustProxy: true, hasAddressLimit: false };
  const forwarded = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' };

  const unlimited = { ...context, hasTrustProxy: false };
  const limited = { ...unlimited, hasAddressLimit: true };

  test.each([
    ['expected', echo(forwarded), context],
    ['expected on one machine', echo({ 'x-forwarded-for': '10.0.0.5' }, '10.0.0.5'), context],
    ['not trusted, without a limit per address', echo(forwarded, '10.0.0.5'), unlimited],
  ])('%s are no trouble', (_, seen, given) => {
    expect(judgeForwarded(seen, given).status).toBe('ok');
  });

  test('that are not trusted are a problem with a limit per address', () => {
    expect(judgeForwarded(echo(forwarded, '10.0.0.5'), limited)).toMatchObject({
      status: 'problem',
      fix: expect.stringMatching(/Set TRUST_PROXY .*10\.0\.0\.5/),
    });
  });

  test.each([
    ['of an unnamed proxy', echo(forwarded, '10.0.0.5'), /Add 10\.0\.0\.5/],
    ['missing', echo({}, '10.0.0.5'), /proxy_set_header X-Forwarded-For/],
    ['of another scheme', echo({ ...forwarded, 'x-forwarded-proto': 'http' }), /X-Forwarded-Proto/],
    ['of another host', echo({ ...forwarded, host: 'api:8080' }), /Host \$host/],
  ])('%s are a warning', (_, seen, fix) => {
    const finding = judgeForwarded(seen, context);
    expect(finding.status).toBe('warning');
    expect(finding.fix).toMatch(fix);
  });
});
