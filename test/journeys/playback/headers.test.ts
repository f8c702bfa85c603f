// Request headers that must have no effect, and headers that every response has (security B8, E4, E7, F4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { IMAGE, openUpload, putBytes, type Started, VIDEO } from '../../support/media.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import {
  asService,
  asUser,
  call,
  IS_BEHIND_NGINX,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService;
let id: string;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api', PUBLIC_BASE_URL: 'https://media.example/base/' });
  const started = await openUpload(service, 'ann', IMAGE);
  id = started.asset_id;
  await putBytes({ ...started, upload_url: local(started.upload_url) }, Buffer.from('bytes'));
});
afterAll(() => service.stop());

const ann = asUser('ann');
/** Behind the proxy that serves the public address. */
const local = (url: string | null) => (url as string).replace('https://media.example/base', service.address);

const FOREIGN: Readonly<Record<string, string>> = {
  host: 'evil.example',
  forwarded: 'host=evil.example;proto=http',
  'x-forwarded-host': 'evil.example',
  'x-forwarded-proto': 'gopher',
  'x-forwarded-port': '1',
  'x-forwarded-prefix': '/evil',
  'x-forwarded-for': '1.2.3.4',
  'x-real-ip': '1.2.3.4',
  'x-original-url': '/healthz',
  'x-rewrite-url': '/healthz',
  'x-http-method-override': 'DELETE',
  'x-method-override': 'DELETE',
  'accept-language': 'de',
  accept: 'text/html',
  'x-user-id': 'eve',
  'x-owner-user-id': 'eve',
};
const foreignLines = Object.entries(FOREIGN)
  .filter(([name]) => name !== 'host')
  .map(([name, value]) => `${name}: ${value}`);

describe('request headers have no effect:', () => {
  test('URLs in responses use the public base URL', async () => {
    const started = (
      await call<Started>(service, 'POST /media/upload-url?expand=asset', {
        headers: { ...ann, ...FOREIGN },
        json: VIDEO,
      })
    ).body.data;
    expect(started.upload_url).toMatch(/^https:\/\/media\.example\/base\/api\/v1\/uploads\//);
    expect(JSON.stringify(started)).not.toMatch(/evil|gopher/);
    const download = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
      headers: { ...ann, ...FOREIGN },
    });
    expect(download.body.data.url).toMatch(/^https:\/\/media\.example\/base\/api\/v1\/downloads\//);
  });

  test('the response is the same with and without them', async () => {
    const line = `GET /api/v1/media/${id}`;
    const plain = await sendRaw(service.address, request(line, [`Authorization: ${ann.authorization}`]));
    const foreign = await sendRaw(
      service.address,
      request(line, [`Authorization: ${ann.authorization}`, ...foreignLines]).replace(
        'mediary.test',
        'evil.example',
      ),
    );
    expect(expectSuccess(foreign)).toEqual(expectSuccess(plain));
    expect([...foreign.headers.keys()].sort()).toEqual([...plain.headers.keys()].sort());
  });

  test('they cannot override method or path', async () => {
    expectSuccess(
      await call(service, `GET /media/${id}`, {
        headers: { ...ann, 'x-http-method-override': 'DELETE', 'x-method-override': 'DELETE' },
      }),
    );
    expectRefusal(
      await call(service, `GET /media/${id}?_method=DELETE`, {
        headers: { 'x-original-url': '/healthz', 'x-rewrite-url': '/healthz' },
      }),
      401,
    );
    expectSuccess(await call(service, `GET /media/${id}?_method=DELETE`, { headers: ann }));
  });

  test('they cannot change the caller', async () => {
    const headers = { ...asUser('bob'), 'x-user-id': 'ann', 'x-owner-user-id': 'ann' };
    expect(expectSuccess(await call(service, 'GET /media', { headers }))['items']).toEqual([]);
  });
});

describe('every response', () => {
  const answers: Readonly<Record<string, () => Promise<{ status: number; headers: Headers }>>> = {
    'an asset': () => call(service, `GET /media/${id}`, { headers: ann }),
    'a list': () => call(service, 'GET /media?owner_user_id=ann', { headers: asService }),
    'a download URL': () => call(service, `GET /media/${id}/download-url`, { headers: asService }),
    'playback addresses': () => call(service, `GET /media/${id}/playback`, { headers: ann }),
    'no credentials': () => call(service, `GET /media/${id}`),
    "another user's asset": () => call(service, `GET /media/${id}`, { headers: asUser('bob') }),
    'nothing to play': () => call(service, `GET /playback/${id}/hls.m3u8`),
    'a wrong playback token': () => call(service, `GET /playback/${id}/~x/hls.m3u8`),
    'an unknown route': () => call(service, 'GET /nope'),
    readiness: () => call(service, `GET ${service.address}/readyz`),
    'an original': async () =>
      fetch(
        local(
          (await call<{ url: string }>(service, `GET /media/${id}/download-url`, { headers: ann })).body.data
            .url,
        ),
      ),
  };

  test.each(Object.keys(answers))(
    '%s is not stored by shared caches, not sniffed, and does not name the server software',
    async (name) => {
      const { headers } = await (answers[name] as () => Promise<{ headers: Headers }>)();
      expect(headers.get('cache-control')).toMatch(/^private, no-(?:cache|store)$|^no-store$/);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-request-id')).toMatch(/\S/);
      // nginx names itself, without its version.
      expect(headers.get('server')).toBe(IS_BEHIND_NGINX ? 'nginx' : null);
      for (const chatty of ['x-powered-by', 'via', 'set-cookie'])
        expect(headers.has(chatty), chatty).toBe(false);
    },
  );

  test('an original is always an attachment', async () => {
    const { headers } = await (answers['an original'] as () => Promise<{ headers: Headers }>)();
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('content-type')).toBe('image/png');
  });
});

test('the documentation cannot be framed and cannot send data elsewhere', async () => {
  const policy = (await fetch(`${service.address}/docs/`)).headers.get('content-security-policy') ?? '';
  for (const rule of [
    "default-src 'none'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ])
    expect(policy).toContain(rule);
});
