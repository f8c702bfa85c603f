// The documents are a site of the service, with a strict policy, and each page is Markdown too.
import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openGuideSite } from '../../../service/src/platform/http/pages/guide-pages.ts';
import { expectRefusal } from '../../support/http/envelope.ts';
import { request, sendRaw } from '../../support/http/raw-socket.ts';
import { call, startTestService, type TestService } from '../../support/service.ts';

const SCRIPT = "document.documentElement.classList.add('dark')";
const MODULE = '<script type="module" src="/docs/guides/files/app.1a2b.js"></script>';
const HTML = `<script id="a">${SCRIPT}</script>${MODULE}`;
/** As VitePress lays it out. */
const SITE: Readonly<Record<string, string>> = {
  'index.html': `${HTML}<h1>Documents</h1>`,
  'captions.html': '<h1>Captions</h1><a href="/docs/guides/">All</a>',
  'captions.md': '# Captions\n',
  'decisions.html': '<h1>Decisions</h1>',
  'decisions/0001-one.html': '<h1>One</h1>',
  '404.html': `${HTML}<h1>Not here</h1>`,
  'files/app.1a2b.js': 'fetch("/docs/guides/hashmap.json")',
  'files/style.3c4d.css': 'a{}',
  'hashmap.json': '{}',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'llms.txt': '# Mediary\n\n- [Captions](/docs/guides/captions.md): subtitles\n',
};
const SECRET = 'a file beside the site';
const PAGE = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';

let folder: string;
let service: TestService;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-guides-'));
  for (const [name, text] of Object.entries(SITE)) {
    await mkdir(dirname(join(folder, 'site', name)), { recursive: true });
    await writeFile(join(folder, 'site', name), text);
  }
  await writeFile(join(folder, 'secret.md'), SECRET);
  await symlink('../secret.md', join(folder, 'site/linked.md'));
  service = await startTestService(
    { MEDIARY_ROLE: 'api', CONSOLE: 'off' },
    { guidesFolder: join(folder, 'site') },
  );
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${service.address}${path}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

test.each([
  ['/docs/guides/', PAGE, 'index.html'],
  ['/docs/guides/captions', PAGE, 'captions.html'],
  ['/docs/guides/captions.md', MARKDOWN, 'captions.md'],
  ['/docs/guides/decisions', PAGE, 'decisions.html'],
  ['/docs/guides/decisions/0001-one', PAGE, 'decisions/0001-one.html'],
  ['/docs/guides/hashmap.json', 'application/json; charset=utf-8', 'hashmap.json'],
  ['/docs/guides/icon.svg', 'image/svg+xml', 'icon.svg'],
  ['/docs/guides/files/app.1a2b.js', 'text/javascript; charset=utf-8', 'files/app.1a2b.js'],
  ['/docs/guides/files/style.3c4d.css', 'text/css; charset=utf-8', 'files/style.3c4d.css'],
])('%s is %s, with an ETag and HEAD', async (path, type, name) => {
  const answer = await get(path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
  expect(await answer.text()).toBe(SITE[name]);
  const isForever = name.startsWith('files/');
  expect(answer.headers.get('cache-control')).toBe(
    isForever ? 'public, max-age=31536000, immutable' : 'public, no-cache',
  );
  const etag = answer.headers.get('etag') ?? '';
  expect((await get(path, { 'if-none-match': etag })).status).toBe(304);
  const head = await get(path, {}, 'HEAD');
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  expect((await get(path, {}, 'POST')).status).toBe(404);
});

test('a page runs its own scripts only, those between tags by their hashes', async () => {
  const policyOf = async (path: string) => (await get(path)).headers.get('content-security-policy') ?? '';
  const scripts = (policy: string) => /script-src ([^;]+)/.exec(policy)?.[1];
  const policy = await policyOf('/docs/guides/');
  expect(policy).toMatch(/^default-src 'none'; .*; frame-ancestors 'none'$/);
  expect(scripts(policy)).toBe(`'self' 'sha256-${hash('sha256', SCRIPT, 'base64')}'`);
  expect(scripts(await policyOf('/docs/guides/captions'))).toBe("'self'");
});

test('/llms.txt lists the pages with their whole addresses', async () => {
  const answer = await get('/llms.txt');
  expect(answer.headers.get('content-type')).toBe(MARKDOWN);
  const [, link = ''] = /\]\(([^)]+)\)/.exec(await answer.text()) ?? [];
  expect(link).toBe(`${service.address}/docs/guides/captions.md`);
  expect(await (await fetch(link)).text()).toBe(SITE['captions.md']);
});

test.each([
  '/docs/guides/../secret.md',
  '/docs/guides/..%2fsecret.md',
  '/docs/guides/%2e%2e/secret.md',
  '/docs/guides/%2e%2e%2f%2e%2e%2fsecret.md',
  '/docs/guides/files/../../secret.md',
  '/docs/guides/..%5csecret.md',
  '/docs/guides/captions.md%00.html',
  '/docs/guides//secret.md',
  '/docs/guides/linked.md',
  '/docs/guides/files',
  '/docs/guides/files/',
  '/docs/guides/captions/',
  '/docs/guides/constructor',
])('%s is 404', async (path) => {
  const { status, body } = await sendRaw(service.address, request(`GET ${path}`));
  expect(status).toBe(404);
  expect(body).not.toContain(SECRET);
});

describe('a page that does not exist', () => {
  test('is the envelope for programs', async () => {
    const refused = await call(service, `GET ${service.address}/docs/guides/none.md`);
    expect(expectRefusal(refused, 404).message).toContain('/llms.txt');
  });

  test('is a page for people', async () => {
    const answer = await get('/docs/guides/none', { accept: 'text/html,*/*;q=0.8', 'if-none-match': '*' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, PAGE]);
    expect(answer.headers.get('content-security-policy')).toContain("'sha256-");
    expect(await answer.text()).toBe(SITE['404.html']);
  });
});

test('the start page, the API reference and `/docs/guides` lead to it', async () => {
  expect(await (await get('/')).text()).toContain('<a href="docs/guides/">');
  expect((await get('/docs/guides')).url).toBe(`${service.address}/docs/guides/`);
  const document = (await (await get('/api/v1/openapi.json')).json()) as { externalDocs: object };
  expect(document.externalDocs).toMatchObject({ url: `${service.address}/docs/guides/` });
});

test('PUBLIC_BASE_URL may have a path', async () => {
  const publicBaseUrl = () => 'https://example.com/media';
  const { files } = await openGuideSite({ folder: join(folder, 'site'), publicBaseUrl });
  const textOf = async (name: string) => (await files.get(name)?.())?.content.bodies.identity.toString();
  expect(await textOf('captions.html')).toContain('href="/media/docs/guides/"');
  expect(await textOf('files/app.1a2b.js')).toBe('fetch("/media/docs/guides/hashmap.json")');
  expect(await textOf('captions.md')).toBe(SITE['captions.md']);
  expect(await textOf('llms.txt')).toContain('(https://example.com/media/docs/guides/captions.md)');
});

test('a service without a built site says how to build it', async () => {
  const plain = await startTestService(
    { MEDIARY_ROLE: 'api', CONSOLE: 'off' },
    { guidesFolder: join(folder, 'none') },
  );
  try {
    for (const path of ['/docs/guides/', '/docs/guides/captions.md', '/llms.txt']) {
      const refused = await call(plain, `GET ${plain.address}${path}`);
      expect(expectRefusal(refused, 404).message).toContain('npm run docs:build');
    }
    expect(await (await fetch(`${plain.address}/`)).text()).not.toContain('docs/guides');
  } finally {
    await plain.stop();
  }
});
