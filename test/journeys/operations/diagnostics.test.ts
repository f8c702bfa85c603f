// GET /admin/diagnostics finds what is wrong with the proxy in front of the service, and names the fix.
import {
  type Diagnostics,
  type EchoReport,
  MAX_ECHO_BYTES,
} from '@mediary/contract/schemas/admin/diagnostics';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Finding } from '../../../packages/checks/src/finding.ts';
import { sendProbe } from '../../../packages/checks/src/probe.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type FaultyProxy, startFaultyProxy } from '../../support/http/faulty-proxy.ts';
import { freePort } from '../../support/http/free-port.ts';
import {
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

const ORIGIN = 'https://app.example.com';

let proxy: FaultyProxy;
let service: TestService;
/** Of the service's clock: a result is kept for a few seconds. */
let offset = 0;
beforeAll(async () => {
  proxy = await startFaultyProxy();
  service = await startTestService(
    {
      PUBLIC_BASE_URL: proxy.url,
      CORS_ORIGINS: ORIGIN,
      TRUST_PROXY: 'loopback',
      MAX_UPLOAD_BYTES: '100000000',
      OUTBOUND_ALLOW_PRIVATE: 'webhooks',
      LOG_LEVEL: 'silent',
    },
    { now: () => new Date(Date.now() + offset) },
  );
  proxy.upstream = service.address;
});
beforeEach(() => {
  proxy.faults = {};
  offset += 10_000;
});
afterAll(async () => {
  await service?.stop();
  await proxy?.stop();
});

async function diagnose(): Promise<Map<string, Finding>> {
  const answer = await call<Diagnostics>(service, 'GET /admin/diagnostics', { headers: asOperator });
  return new Map(expectSuccess<Diagnostics>(answer).findings.map((finding) => [finding.check, finding]));
}

const withStatus = (findings: Map<string, Finding>, status: Finding['status']) =>
  [...findings.values()].filter((finding) => finding.status === status).map(({ check }) => check);

test('only operators may ask', async () => {
  for (const path of [
    'GET /admin/diagnostics',
    'POST /admin/diagnostics/echo',
    'POST /uploads/diagnostics/echo',
  ])
    for (const headers of [{}, asUser('ann'), { 'x-diagnostics-token': 'invalid' }])
      expectRefusal(await call(service, path, { headers }), 401);
});

describe('a client outside', () => {
  const echo = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
    call<EchoReport>(service, `POST ${proxy.url}/api/v1/uploads/diagnostics/echo`, {
      headers: { ...asOperator, ...headers },
      body,
    });

  test('sees what arrived of its request', async () => {
    const { data } = (await echo(new Uint8Array(300_000), { 'x-forwarded-proto': 'https' })).body;
    expect(data).toMatchObject({
      nonce: null,
      proof: null,
      path: '/api/v1/uploads/diagnostics/echo',
      headers: {
        host: new URL(proxy.url).host,
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'https',
      },
      client_address: '127.0.0.1',
      content_length: 300_000,
      body_bytes: 300_000,
      is_complete: true,
    });
    expect(data.chunks.reduce((total, { bytes }) => total + bytes, 0)).toBe(300_000);
    expect(JSON.stringify(data)).not.toContain(asOperator['x-operator-key']);
  });

  test('is refused more than the service discards', async () => {
    const answer = await sendProbe({
      method: 'POST',
      url: `${service.url}/admin/diagnostics/echo`,
      headers: asOperator,
      body: {
        announcedBytes: MAX_ECHO_BYTES + 1,
        parts: [{ afterMs: 0, bytes: new Uint8Array(1) }],
      },
      timeoutMs: 10_000,
    });
    expect(answer).toMatchObject({ status: 413 });
    expect('body' in answer && JSON.parse(answer.body.toString()).error.details).toEqual({
      reason: 'size_above_limit',
      limit: MAX_ECHO_BYTES,
    });
  });

  test('reads events at intervals, and ranges of a file', async () => {
    const stream = (query: string, init: RequestInit = {}) =>
      fetch(`${proxy.url}/api/v1/downloads/diagnostics/stream?${query}`, {
        ...init,
        headers: { ...asOperator, ...init.headers },
      });
    const events = await (await stream('chunks=2&interval_ms=20')).text();
    expect(events).toMatch(/^data: \{"index":0,"sent_ms":0.*\}\n\ndata: \{"index":1,.*\}\n\n$/);
    const part = await stream('type=bytes', { headers: { range: 'bytes=250-252' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 250-252/65536']);
    expect([...new Uint8Array(await part.arrayBuffer())]).toEqual([250, 0, 1]);
    const head = await stream('type=bytes', { method: 'HEAD' });
    expect(head.headers.get('content-length')).toBe('65536');
    expect((await stream('chunks=100&interval_ms=2000')).status).toBe(400);
    expect((await stream('', { headers: { 'x-operator-key': 'wrong' } })).status).toBe(401);
  });
});

describe('the diagnostics', () => {
  test('find no problem behind a correct proxy', async () => {
    const findings = await diagnose();
    expect(withStatus(findings, 'problem')).toEqual([]);
    expect(withStatus(findings, 'ok')).toEqual(
      expect.arrayContaining([
        'public_url',
        'public_url.forwarded_headers',
        'public_url.methods',
        'public_url.body_limit',
        'public_url.request_buffering',
        'public_url.response_buffering',
        'public_url.ranges',
        'public_url.cors',
        'database.version',
        'database.migrations',
        'database.connections',
        'database.partitions',
        'queue',
        'storage.access',
        'clock.database',
        'workers',
        'workers.versions',
        'webhook_endpoints.reachable',
        'encoder.ffmpeg',
        'settings.secrets',
      ]),
    );
    expect(withStatus(findings, 'not_checked')).toEqual(['database.slow_queries']);
  });

  test('find limits, buffers and missing headers of a proxy', async () => {
    proxy.faults = {
      maxBodyBytes: 1024 ** 2,
      buffersRequests: true,
      buffersResponses: true,
      droppedHeaders: ['range', 'access-control-expose-headers'],
    };
    const findings = await diagnose();
    expect(withStatus(findings, 'problem')).toEqual([
      'public_url.body_limit',
      'public_url.response_buffering',
      'public_url.ranges',
      'public_url.cors',
    ]);
    expect(findings.get('public_url.body_limit')).toMatchObject({
      fix: expect.stringContaining('client_max_body_size'),
      details: { refused_bytes: 2 * 1024 ** 2, accepted_announced_bytes: 1024 ** 2 },
    });
    expect(findings.get('public_url.request_buffering')).toMatchObject({
      status: 'warning',
      fix: expect.stringContaining('proxy_request_buffering off'),
    });
    expect(findings.get('public_url.response_buffering')?.fix).toContain('proxy_buffering off');
    expect(findings.get('public_url.cors')?.message).toContain('upload-offset');
  });

  test('find a proxy that changes the path, and tell what could not be checked', async () => {
    proxy.faults = { stripPrefix: '/api' };
    const findings = await diagnose();
    expect(findings.get('public_url')).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('proxy_pass'),
    });
    expect(findings.get('public_url.body_limit')?.status).toBe('not_checked');
    expect(findings.get('database.version')?.status).toBe('ok');
  });

  test('find a stranger at the public URL', async () => {
    proxy.upstream = `${service.address}/healthz?`;
    const findings = await diagnose().finally(() => {
      proxy.upstream = service.address;
    });
    expect(findings.get('public_url')).toMatchObject({ status: 'problem' });
  });

  test('find webhook endpoints that do not respond', async () => {
    const urls = [`${service.address}/`, `http://127.0.0.1:${await freePort()}/in?key=s3cret`];
    for (const url of urls)
      expectSuccess(await call(service, 'POST /webhook-endpoints', { headers: asService, json: { url } }));
    const findings = await diagnose();
    expect(findings.get('webhook_endpoints.reachable')).toMatchObject({
      status: 'problem',
      fix: expect.stringContaining('Start the receiver'),
      details: {
        enabled: 2,
        checked: 2,
        failed: [{ host: new URL(urls[1] ?? '').host, failure: 'connect_failed: ECONNREFUSED' }],
      },
    });
    expect(findings.get('webhook_endpoints.paused')?.status).toBe('ok');
    expect(JSON.stringify([...findings.values()])).not.toContain('s3cret');
  });
});
