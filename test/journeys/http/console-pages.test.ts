// The console is one page for all its addresses, allows only its own scripts and styles, and can be off.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service?.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${service.address}${path}`, { headers, redirect: 'manual' });
const nonceOf = (html: string) => /csp-nonce" nonce="([^"]+)"/.exec(html)?.[1] ?? '';

test('the first address of a service leads to it', async () => {
  const answer = await get('/');
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'console']);
});

describe('the page', () => {
  test.each([
    '/console',
    '/console/',
    '/console/library?q=sea',
    '/console/assets/1',
    '/console/files/none.js',
  ])('is served at %s', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('<base href="/console/">');
  });

  test('has a new nonce each time, which its policy allows beside its own files', async () => {
    const first = await get('/console');
    const nonce = nonceOf(await first.text());
    const policy = first.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; ");
    expect(policy).toContain(`style-src 'self' 'nonce-${nonce}'`);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(nonceOf(await (await get('/console')).text())).not.toBe(nonce);
    expect(first.headers.get('cache-control')).toBe('no-store');
  });

  test('tells its script whether to ask for a session', async () => {
    const marked = async (headers: Record<string, string>) =>
      (await (await get('/console', headers)).text()).includes('mediary-session');
    expect(await marked({})).toBe(false);
    expect(await marked({ cookie: `mediary_session=${'a'.repeat(43)}` })).toBe(true);
  });

  test('loads files that stay the same under their names', async () => {
    const html = await (await get('/console')).text();
    const paths = [...html.matchAll(/(?:src|href)="\.\/(files\/[^"]+)"/g)].map(([, path]) => path);
    expect(paths.length).toBeGreaterThan(1);
    for (const path of paths) {
      const answer = await get(`/console/${path}`, { 'accept-encoding': 'br' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toContain('immutable');
      expect(answer.headers.get('content-type')).toMatch(/^text\/(?:javascript|css); charset=utf-8$/);
    }
  });
});

test('the base is that of PUBLIC_BASE_URL, which may have a path', async () => {
  const below = await startTestService({
    MEDIARY_ROLE: 'api',
    PUBLIC_BASE_URL: 'https://example.com/media',
  });
  const html = await (await fetch(`${new URL(below.address).origin}/console`)).text().finally(below.stop);
  expect(html).toContain('<base href="/media/console/">');
});

test('CONSOLE=off leaves a page of links', async () => {
  const plain = await startTestService({ MEDIARY_ROLE: 'api', CONSOLE: 'off' });
  try {
    expectRefusal(await call(plain, `GET ${plain.address}/console`), 404);
    const html = await (await fetch(`${plain.address}/`)).text();
    const links = [...html.matchAll(/href="([^"]+)"/g)].map(([, link]) => link ?? '');
    for (const link of links.filter((named) => !named.startsWith('data:')))
      expect((await fetch(new URL(link, plain.address))).status, link).toBe(200);
    expect(links).toContain('docs/');
  } finally {
    await plain.stop();
  }
});
