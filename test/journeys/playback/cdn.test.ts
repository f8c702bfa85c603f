// Videos and images play through a CDN that pulls from the service and obeys its Cache-Control.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeClip } from '../../support/clips/clips.ts';
import { type AssetJson, ingest, offer, openUpload, settled } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import {
  asOperator,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

type Stored = { readonly status: number; readonly headers: Headers; readonly body: Buffer };

let service: TestService;
let cdn: Server;
let cdnUrl: string;
/** Paths that the CDN fetched from the service, in order. */
const fetched: string[] = [];
const cache = new Map<string, Stored>();

/** Asks for whole files, and keeps what a shared cache may keep (RFC 9111). */
async function serveFromCdn(path: string): Promise<Stored> {
  const cached = cache.get(path);
  if (cached) return cached;
  fetched.push(path);
  const response = await fetch(`${service.address}${path}`, { redirect: 'manual' });
  const { status, headers } = response;
  const stored = { status, headers, body: Buffer.from(await response.arrayBuffer()) };
  const isPublic = /^public, max-age=[1-9]/.test(headers.get('cache-control') ?? '');
  if (status === 200 && isPublic && !headers.has('set-cookie')) cache.set(path, stored);
  return stored;
}

beforeAll(async () => {
  cdn = createServer(async ({ url = '' }, response) => {
    const { status, headers, body } = await serveFromCdn(url);
    response.writeHead(status, Object.fromEntries(headers)).end(body);
  });
  cdn.listen(0, '127.0.0.1');
  await once(cdn, 'listening');
  cdnUrl = `http://127.0.0.1:${(cdn.address() as AddressInfo).port}`;
  service = await startTestService({ CDN_BASE_URL: cdnUrl });
});
afterAll(async () => {
  await service.stop();
  cdn.close();
});

const playbackOf = async ({ id }: AssetJson) =>
  (await call<Record<string, string>>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body
    .data;
const isOfCdn = (url: unknown) => String(url).startsWith(`${cdnUrl}/api/v1/playback/`);

test.each(['public', 'private'] as const)(
  'a %s video plays, and only a public one is kept',
  async (visibility) => {
    const file = await makeClip({ seconds: 2 });
    const asset = await ingest(service, 'ann', { file, fields: { visibility } });
    const { hls = '', dash = '', thumbnail = '', image = '' } = await playbackOf(asset);
    expect([hls, dash, thumbnail, image].filter((url) => !isOfCdn(url))).toEqual([]);
    expect(Object.values(asset['playback'] as object).every(isOfCdn)).toBe(true);
    for (const url of [hls, dash]) expect(await decode(url), url).toEqual(CLEAN);
    const before = fetched.length;
    expect(await decode(hls)).toEqual(CLEAN);
    expect((await fetch(`${image}&w=64&format=webp`)).status).toBe(200);
    const again = fetched.slice(before).filter((path) => path.includes(asset.id));
    expect(again.some((path) => path.endsWith('.m4s'))).toBe(visibility === 'private');
    expect([...cache.keys()].some((path) => path.includes(asset.id))).toBe(visibility === 'public');
  },
);

test('images play through it, uploads and downloads do not', async () => {
  const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const fields = { filename: 'a.png', content_type: 'image', mime_type: 'image/png', visibility: 'public' };
  const { id } = await offer(service, 'ann', { bytes, fields });
  const asset = await settled(service, 'ann', id);
  const { thumbnail = '', image = '' } = await playbackOf(asset);
  for (const url of [thumbnail, image])
    expect([isOfCdn(url), (await fetch(url)).status]).toEqual([true, 200]);
  const { upload_url: upload } = await openUpload(service, 'ann');
  const { body } = await call<{ url: string }>(service, `GET /media/${id}/download-url`, {
    headers: asUser('ann'),
  });
  for (const url of [upload, body.data.url]) expect(String(url)).toContain(`${service.address}/api/v1/`);
});

test('what it has to purge is listed, also where nobody is told', async () => {
  const asset = await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
  await call(service, `DELETE /media/${asset.id}`, { headers: asUser('ann') });
  const { items } = await eventually(
    async () =>
      (await call<{ items: object[] }>(service, 'GET /admin/purges?limit=1', { headers: asOperator })).body
        .data,
    ({ items: listed }) => listed.length > 0,
  );
  expect(items).toMatchObject([
    {
      asset_id: asset.id,
      reason: 'deleted',
      prefix: `${cdnUrl}/api/v1/playback/${asset.id}/`,
      attempts: 0,
      delivered_at: null,
    },
  ]);
  const page = async (query: string) =>
    (await call<PurgePage>(service, `GET /admin/purges?${query}`, { headers: asOperator })).body;
  const { items: all, next_cursor: end } = (await page('limit=100')).data;
  expect(end).toBeNull();
  const found: unknown[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { data }: { data: PurgePage } = await page(`limit=1${cursor && `&cursor=${cursor}`}`);
    found.push(...data.items);
    cursor = data.next_cursor;
  }
  expect(found).toEqual(all);
  const details = { reason: 'invalid_cursor', field: 'cursor' };
  expect(await page('cursor=x')).toMatchObject({ code: 400, error: { details } });
});

type PurgePage = { readonly items: readonly object[]; readonly next_cursor: string | null };
