// The documentation is compressed once, has ETags, and can be switched off.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectRefusal } from '../../support/http/envelope.ts';
import { call, startTestService, type TestService } from '../../support/service.ts';

const DOCUMENT = '/api/v1/openapi.json';
const SCRIPT = '/docs/js/scalar.js';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${service.address}${path}`, { method, headers: { 'accept-encoding': 'identity', ...headers } });

describe.each([DOCUMENT, SCRIPT, '/docs/'])('%s', (path) => {
  test.each(['br', 'gzip'])('has the same text when compressed with %s', async (encoding) => {
    const [plain, compressed] = await Promise.all([get(path), get(path, { 'accept-encoding': encoding })]);
    expect(compressed.headers.get('content-encoding')).toBe(encoding);
    expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
    expect(compressed.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect(Number(compressed.headers.get('content-length'))).toBeLessThan(
      Number(plain.headers.get('content-length')),
    );
    expect(await compressed.text()).toBe(await plain.text());
  });

  test('answers a matching ETag with 304', async () => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    const again = await get(path, { 'if-none-match': etag });
    expect(again.status).toBe(304);
    expect(again.headers.get('etag')).toBe(etag);
    expect(await again.text()).toBe('');
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await get(path, { 'if-none-match': etag }, 'HEAD');
    expect([head.status, head.headers.get('etag')]).toEqual([304, etag]);
  });

  test('answers HEAD with its length', async () => {
    const [head, whole] = await Promise.all([get(path, {}, 'HEAD'), get(path)]);
    expect(head.status).toBe(200);
    expect(head.headers.get('content-length')).toBe(String((await whole.bytes()).byteLength));
  });
});

test('the script of several megabytes costs no more processor time than the document', async () => {
  const measure = async (path: string): Promise<number> => {
    const etag = (await get(path)).headers.get('etag') ?? '';
    const start = process.cpuUsage();
    for (let sent = 0; sent < 100; sent += 1) await get(path, { 'if-none-match': etag });
    const { user, system } = process.cpuUsage(start);
    return user + system;
  };
  await measure(DOCUMENT);
  const [ofDocument, ofScript] = [await measure(DOCUMENT), await measure(SCRIPT)];
  expect(ofScript / ofDocument).toBeLessThan(5);
});

describe('the documentation page', () => {
  test('loads its script from the service, and its policy allows no other origin', async () => {
    const page = await fetch(`${service.address}/docs/`);
    const html = await page.text();
    expect(page.headers.get('content-type')).toContain('text/html');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|\*|data:.*script/);
    expect(html).toContain('<link rel="icon" href="data:image/svg+xml,');
    const loaded = [...html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(
      ([, url]) => new URL(url as string, page.url),
    );
    expect(loaded.length).toBeGreaterThan(0);
    for (const url of loaded) {
      expect(url.origin).toBe(service.address);
      expect((await fetch(url)).status).toBe(200);
    }
    expect(html).not.toMatch(/https?:\/\/(?!127\.0\.0\.1|www\.w3\.org)/);
    expect(html).toContain('/api/v1/openapi.json');
  });

  test('also answers without a trailing slash', async () => {
    const answer = await fetch(`${service.address}/docs`);
    expect([answer.status, answer.url]).toEqual([200, `${service.address}/docs/`]);
  });
});

test('DOCS=off removes the pages and keeps the document', async () => {
  const plain = await startTestService({ MEDIARY_ROLE: 'api', DOCS: 'off' });
  try {
    for (const path of ['/docs', '/docs/', SCRIPT, '/docs/guides', '/docs/guides/', '/llms.txt'])
      expectRefusal(await call(plain, `GET ${plain.address}${path}`), 404);
    expect(await (await fetch(`${plain.address}${DOCUMENT}`)).json()).toMatchObject({ openapi: '3.1.0' });
  } finally {
    await plain.stop();
  }
});
