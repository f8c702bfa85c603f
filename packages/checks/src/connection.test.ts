// Tests the findings about a service that does not answer as it should.
import { describe, expect, test } from 'vitest';
import { checkClock, checkConnection, checkPublicUrl, checkReadiness, checkTls } from './connection.ts';
import type { ProbeReply, ProbeResult } from './probe.ts';

const URL = 'https://media.test';
const ADDRESS = { url: URL, setBy: '--url' };
const answer = (status: number, body: unknown, headers: Record<string, string> = {}): ProbeReply => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  headAfterMs: 5,
  chunks: [],
  certificate: undefined,
});
const reachableFinding = async (result: ProbeResult) =>
  (await checkConnection(async () => result, ADDRESS)).findings[0];

describe('a service that does not answer as it should', () => {
  test.each([
    ['ECONNREFUSED', /Start the service/],
    ['ENOTFOUND', /DNS/],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
    [undefined, /firewall/],
  ])('%s', async (code, fix) => {
    const finding = await reachableFinding({
      failure: code === undefined ? 'timeout' : 'error',
      phase: 'connect',
      code,
    });
    expect(finding).toMatchObject({ status: 'problem', fix: expect.stringMatching(fix) });
  });

  test('a redirect names the URL to use', async () => {
    const location = 'https://www.media.test/api/v1/openapi.json';
    expect(await reachableFinding(answer(301, '', { location }))).toMatchObject({
      status: 'problem',
      fix: 'Use --url https://www.media.test',
    });
  });

  test.each([
    [502, '<html>Bad gateway</html>'],
    [200, '<html>Welcome</html>'],
    [404, { message: 'another API' }],
  ])('status %i with %j is a problem', async (status, body) => {
    expect(await reachableFinding(answer(status, body))).toMatchObject({ status: 'problem' });
  });
});

test('uploads need no worker, jobs do', async () => {
  const send = async () => answer(200, { data: { worker_count: 0, warnings: ['no_workers'] } });
  expect(await checkReadiness(send, ADDRESS, 'jobs')).toMatchObject({ status: 'problem' });
  expect(await checkReadiness(send, ADDRESS, 'uploads')).toMatchObject({
    check: 'connection.ready_for_uploads',
    status: 'ok',
  });
});

describe('clock', () => {
  const now = Date.parse('2026-11-22T10:00:00.500Z');
  test.each([
    ['Sun, 22 Nov 2026 10:00:00 GMT', 'ok'],
    ['Sun, 22 Nov 2026 10:00:20 GMT', 'warning'],
    ['Sun, 22 Nov 2026 09:50:00 GMT', 'problem'],
    [undefined, 'not_checked'],
  ])('%s is %s', (date, status) => {
    expect(checkClock(date, now)).toMatchObject({ status });
  });
});

describe('public URL', () => {
  test.each([
    ['https://media.test/', 'ok'],
    ['https://cdn.media.test', 'warning'],
    ['http://127.0.0.1:8080', 'problem'],
    [undefined, 'not_checked'],
  ])('%s is %s', (publicUrl, status) => {
    expect(checkPublicUrl(ADDRESS, publicUrl)).toMatchObject({ status });
  });
});

test('a certificate that expires soon, and plain HTTP on a network, are warnings', () => {
  const certificate = (validTo: string) => ({ valid_to: validTo }) as Parameters<typeof checkTls>[1];
  const now = new Date('2026-11-22');
  expect(checkTls(URL, certificate('Dec  1 00:00:00 2026 GMT'), now)).toMatchObject({ status: 'warning' });
  expect(checkTls(URL, certificate('Mar  1 00:00:00 2027 GMT'), now)).toMatchObject({ status: 'ok' });
  expect(checkTls('http://10.0.0.7', undefined, now)).toMatchObject({ status: 'warning' });
  expect(checkTls('http://127.0.0.1:8080', undefined, now)).toMatchObject({ status: 'ok' });
});
