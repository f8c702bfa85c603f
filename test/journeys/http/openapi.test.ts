// The OpenAPI document lists every route, and responses match its schemas (contract A1, A2, B2).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OPERATIONS } from '@mediary/contract/operations';
import {
  type ApiDocument,
  operationsOf,
  readDocument,
  responseOf,
  routesOf,
} from '../../support/http/openapi.ts';
import { IMAGE, openUpload, putBytes, VIDEO } from '../../support/media.ts';
import {
  type Answer,
  asOperator,
  asService,
  asUser,
  call,
  startTestService,
  type TestService,
} from '../../support/service.ts';

let service: TestService, document: ApiDocument;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  document = await readDocument(service);
});
afterAll(() => service.stop());

/** Not of the API; the document says nothing of them. */
const CONSOLE = ['/console', '/console/', '/console/*', '/console/files/:name'];
const GUIDES = ['/docs/guides', '/docs/guides/', '/docs/guides/*', '/llms.txt'];
const PAGES = ['/', '/docs', '/docs/', '/docs/js/scalar.js', '/api/v1/openapi.json'];
const OTHERS = [...PAGES, ...CONSOLE, ...GUIDES].map((path) => `GET ${path}`).concat('OPTIONS *');
/** Files that manifests name, with and without a token: one route of the router. */
const BELOW_MANIFESTS = /\/\{id\}\/(?:~\{token\}\/(?!(?:image|frame\.jpg|embed)$)|\{folder\})/;

const securityOf = (name: string): object[] => {
  if (/webhook-endpoints|upload-tokens|legal-hold|image-signing-key/.test(name)) return [{ serviceKey: [] }];
  if (!/\/api\/v1\/(?:media|usage|events|collections)/.test(name)) return [];
  return [...(name.endsWith('/playlist') ? [{}] : []), { bearer: [] }, { serviceKey: [] }];
};
const FIXED = [
  'POST /api/v1/media/upload-url',
  'GET /api/v1/media',
  'POST /api/v1/media/{id}/complete',
  'GET /api/v1/media/{id}',
  'PATCH /api/v1/media/{id}',
  'DELETE /api/v1/media/{id}',
  'GET /api/v1/media/{id}/download-url',
  'GET /api/v1/media/{id}/playback',
  'GET /api/v1/playback/{id}/hls.m3u8',
  'GET /api/v1/playback/{id}/dash.mpd',
  'GET /api/v1/playback/{id}/thumb.jpg',
  'POST /api/v1/webhooks/stream/cdnhost',
  'POST /api/v1/webhooks/stream/onprem',
  'POST /api/v1/webhooks/stream/edgehost',
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
];

describe('the document', () => {
  test('is OpenAPI 3.1, and lists exactly the routes of the service', () => {
    expect(document.openapi).toBe('3.1.0');
    const routes = routesOf(service).filter((route) => !route.startsWith('HEAD ') && !OTHERS.includes(route));
    const described = [...operationsOf(document).keys()].filter((name) => !BELOW_MANIFESTS.test(name));
    const served = routes.map((route) => route.replace(/:(\w+)/g, '{$1}'));
    expect(served.filter((name) => !described.includes(name))).toEqual(['GET /api/v1/playback/{id}/*']);
    expect(described).toEqual(expect.arrayContaining(FIXED));
  });

  test('has only operations that the service serves', async () => {
    for (const name of operationsOf(document).keys()) {
      const [method = '', path = ''] = name.split(' ');
      // The response to HEAD has no body that could name the error; scripts and metrics are no JSON.
      if (method === 'HEAD' || path.endsWith('.js') || path === '/metrics') continue;
      const { status, body } = await call(
        service,
        `${method} ${service.address}${path.replace(/\{\w+\}/g, 'x')}`,
      );
      expect.soft(`${status} ${body.message}`, name).not.toMatch(/^404 (?:No such route|This path has)/);
    }
  });

  test('belongs to a service that answers HEAD for every GET', () => {
    const routes = routesOf(service);
    for (const route of routes.filter((name) => name.startsWith('GET ')))
      expect(routes).toContain(route.replace('GET', 'HEAD'));
  });

  test('has a summary, security and responses for each operation', () => {
    for (const [name, { summary, parameters = [], security = [], responses }] of operationsOf(document)) {
      expect.soft(summary, name).toMatch(/^\S.{8,}/);
      const inPath = [...name.matchAll(/\{(.+?)\}/g)].map(([, parameter]) => parameter);
      expect
        .soft(
          parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
          name,
        )
        .toEqual(inPath);
      expect.soft(Object.keys(responses), name).toContainEqual(expect.stringMatching(/^2\d\d$/));
      if (!/\/admin\/|\/metrics$/.test(name)) expect.soft(security, name).toEqual(securityOf(name));
    }
  });

  test('has 429 where a rate limit applies, and 503 for webhooks', () => {
    for (const [name, { responses }] of operationsOf(document)) {
      const isNever = /\/(?:healthz|readyz|metrics|webhooks\/.*)$/.test(name) || BELOW_MANIFESTS.test(name);
      expect.soft('429' in responses, name).toBe(!isNever);
      if (name.includes('/webhooks/stream/')) expect.soft(Object.keys(responses), name).toContain('503');
    }
  });

  test('has an operationId for each operation', () => {
    const names = [...operationsOf(document).values()].map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(expect.arrayContaining(OPERATIONS.map(({ id }) => id)));
    expect(names).toEqual(expect.arrayContaining(['receiveCdnhostWebhook', 'receiveOnpremWebhook']));
  });

  test('has the server, the version and the registered providers', () => {
    expect(document.servers).toEqual([{ url: service.address }]);
    expect(document.info.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(document.components.schemas['ProviderName']?.enum).toEqual(['cdnhost', 'edgehost', 'onprem']);
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'serviceKey', 'operatorKey']);
  });

  test('has optional parameters where there is a default, and no wildcards in paths', () => {
    for (const [name, { parameters = [] }] of operationsOf(document)) {
      expect.soft(name).not.toContain('*');
      for (const { name: parameter, required, schema } of parameters)
        if (schema.default !== undefined) expect.soft(required, `${name} ${parameter}`).toBe(false);
    }
  });

  test('describes the bodies of uploads and webhooks', () => {
    const operations = operationsOf(document);
    const types = Object.keys(operations.get('PUT /api/v1/uploads/{id}')?.requestBody?.content ?? {});
    expect(types).toEqual(['video/*', 'audio/*', 'image/*']);
    for (const provider of ['cdnhost', 'edgehost', 'onprem'])
      expect(operations.get(`POST /api/v1/webhooks/stream/${provider}`)?.requestBody).toMatchObject({
        required: true,
        content: { 'application/json': { schema: expect.any(Object) } },
      });
  });

  test('has an example for each envelope, and the headers that come with it', () => {
    for (const [name, { responses }] of operationsOf(document))
      for (const [status, response] of Object.entries(responses)) {
        const { content, headers = {} } = responseOf(document, response);
        const json = content?.['application/json'];
        if (!json) continue;
        expect.soft(json.example ?? Object.values(json.examples ?? {})[0], `${name} ${status}`).toBeDefined();
        expect.soft(Object.keys(headers), `${name} ${status}`).toContain('X-Request-Id');
        if (status === '401') expect.soft(headers, name).toHaveProperty('WWW-Authenticate');
        if (status === '429')
          expect
            .soft(Object.keys(headers), name)
            .toEqual(expect.arrayContaining(['Retry-After', 'RateLimit']));
      }
  });

  test('has no secrets, file paths or examples that look like them', () => {
    expect(JSON.stringify(document)).not.toMatch(
      /test-(?:access|service|operator|onprem|cdnhost|edgehost)|\/(?:tmp|home|var)\/|eyJ/,
    );
  });
});

describe('responses match the document', () => {
  const user = asUser('ann');
  /** `call` holds every response against the document. */
  const ask = (line: string, how: Parameters<typeof call>[2] = {}): Promise<Answer> => {
    const [method, path = ''] = line.split(' ');
    return call(service, `${method} ${service.address}${path}`, how);
  };
  const media = (rest = '') => `/api/v1/media${rest}`;
  const nobodys = '/0199aaaa-0000-7000-8000-000000000000';

  test('for an image', async () => {
    await ask(`POST ${media('/upload-url')}`, {
      headers: user,
      json: { ...IMAGE, title: 'A', tags: ['a'], metadata: { a: [1] }, size_bytes: 8 },
    });
    const started = await openUpload(service, 'ann', IMAGE);
    const id = `/${started.asset_id}`;
    await putBytes(started, Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'));
    await ask(`POST ${media(id)}/complete`, { headers: user });
    for (const rest of ['', '/playback', '/download-url'])
      await ask(`GET ${media(id)}${rest}`, { headers: user });
    await ask(`PATCH ${media(id)}`, { headers: user, json: { title: null, visibility: 'public' } });
    await ask(`GET ${media()}?limit=1&count=true`, { headers: user });
    await ask('GET /api/v1/usage', { headers: user });
    for (const method of ['GET', 'DELETE'])
      await ask(`${method} /api/v1/admin/owners/bob/limits`, { headers: asOperator });
    await ask('PUT /api/v1/admin/owners/bob/limits', { headers: asOperator, json: { max_bytes: null } });
    await ask(`DELETE ${media(id)}?trash=true`, { headers: user });
    await ask(`POST ${media(id)}/restore`, { headers: user });
    await ask(`DELETE ${media(id)}`, { headers: user });
  });

  test('for a linked video that becomes ready', async () => {
    const linked = { ...VIDEO, owner_user_id: 'ann', provider: 'cdnhost', provider_video_id: 'guid-1' };
    const started = await ask(`POST ${media('/upload-url')}`, { headers: asService, json: linked });
    const id = `/${started.body.data['asset_id']}`;
    await ask(`POST ${media(id)}/complete`, { headers: user });
    await ask(`GET ${media(id)}/playback`, { headers: asService });
    await ask(`POST ${media(id)}/retry`, { headers: user });
  });

  test('for errors', async () => {
    await ask(`GET ${media()}`);
    await ask(`GET ${media()}?limit=0`, { headers: user });
    await ask(`GET ${media()}`, { headers: asService });
    for (const json of [{}, { ...VIDEO, size_bytes: Number.MAX_SAFE_INTEGER }])
      await ask(`POST ${media('/upload-url')}`, { headers: user, json });
    await ask(`POST ${media('/upload-url')}`, {
      headers: { ...user, 'content-type': 'application/json' },
      body: ' '.repeat(1024 * 1024 + 1),
    });
    const { asset_id: id } = await openUpload(service, 'ann', VIDEO);
    await ask(`POST ${media(`/${id}`)}/complete`, { headers: user });
    await ask(`PATCH ${media(`/${id}`)}`, { headers: { ...user, 'if-match': '"99"' }, json: {} });
    for (const [headers, there] of [
      [{}, nobodys],
      [user, nobodys],
      [asUser('bob'), `/${id}`],
    ] as const) {
      for (const rest of ['', '/playback', '/download-url'])
        await ask(`GET ${media(there)}${rest}`, { headers });
      for (const rest of ['/complete', '/retry', '/restore'])
        await ask(`POST ${media(there)}${rest}`, { headers });
      await ask(`PATCH ${media(there)}`, { headers, json: {} });
      await ask(`DELETE ${media(there)}`, { headers });
    }
  });

  test('outside of /media', async () => {
    for (const path of ['/healthz', '/readyz']) await ask(`GET ${path}`);
    for (const provider of ['cdnhost', 'onprem', 'edgehost'])
      await ask(`POST /api/v1/webhooks/stream/${provider}`, { body: '{}' });
    await ask(`PUT /api/v1/uploads${nobodys}?ticket=x`, { body: 'bytes' });
    await ask(`GET /api/v1/downloads${nobodys}?ticket=x`);
    for (const file of ['hls.m3u8', 'dash.mpd', 'thumb.jpg'])
      await ask(`GET /api/v1/playback${nobodys}/${file}`);
    await ask(`GET /api/v1/playback${nobodys}/~x/1-1/v0.mp4`);
  });
});
