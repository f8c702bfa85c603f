// Payload with the configuration of docs/guides/payload.md: the files of its documents are assets.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMediary, type Mediary } from '@mediary/client';
import { mediaryStorage } from '@mediary/client/payload';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { launchChromium } from '../support/playback/browser.ts';
import { SECRETS, startTestService, type TestService } from '../support/service.ts';
import { type PayloadDocument, type PayloadProject, startPayload, type TestFile } from './payload-project.ts';

let service: TestService;
let account: { baseUrl: string; serviceKey: string; ownerUserId: string };
let mediary: Mediary;
let payload: PayloadProject;
beforeAll(async () => {
  service = await startTestService();
  // Payload downloads files from no other private address.
  const baseUrl = service.address.replace('127.0.0.1', 'localhost');
  account = { baseUrl, serviceKey: SECRETS.SERVICE_API_KEY, ownerUserId: 'cms' };
  mediary = createMediary(account);
  payload = await startPayload(account);
});
afterAll(async () => {
  await payload?.stop();
  await service?.stop();
});

async function create(collection: string, file: TestFile): Promise<PayloadDocument> {
  const { status, body } = await payload.call(`POST /${collection}`, { file });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.doc;
}

const draw = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 640, height: 360, channels: 3, background } })
    .png()
    .toBuffer();

async function listIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of mediary.media.list()) ids.push(id);
  return ids;
}

/** The color of the picture at a URL, and its width. */
async function readPicture(url: string): Promise<readonly [width: number, color: readonly number[]]> {
  const response = await fetch(url);
  expect([url, response.status]).toEqual([url, 200]);
  const { data, info } = await sharp(await response.arrayBuffer())
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [info.width, [...data.subarray(0, 3)].map((value) => Math.round(value / 16) * 16)];
}

test('the configuration compiles with the types of Payload', async () => {
  expect(await payload.compile()).toBe('');
});

test('a public picture is an asset, and its URL serves it in all sizes', async () => {
  const doc = await create('media', { bytes: await draw('red'), filename: 'red square ü.png' });
  const asset = await mediary.media.get(doc.mediaryId);
  expect(asset).toMatchObject({
    external_id: `payload:media/${doc.filename}`,
    filename: doc.filename,
    mime_type: 'image/png',
    owner_user_id: 'cms',
    visibility: 'public',
    stream_status: 'ready',
  });
  expect(doc.url).toBe(`${account.baseUrl}/api/v1/playback/${asset.id}/image`);
  expect(await readPicture(doc.url)).toEqual([640, [256, 0, 0]]);
  expect((await readPicture(`${doc.url}?w=64`))[0]).toBe(64);
  expect((await payload.call(`GET /media/${doc.id}`)).body).toMatchObject({
    url: doc.url,
    mediaryId: asset.id,
  });
});

test('a public video becomes ready and plays on its page', async () => {
  const bytes = await readFile(await makeClip({ seconds: 2, width: 320, height: 180 }));
  const doc = await create('media', { bytes, filename: 'film.mp4', type: 'video/mp4' });
  expect(doc.url).toBe(`${account.baseUrl}/api/v1/playback/${doc.mediaryId}/embed`);
  expect(await mediary.media.waitUntilReady(doc.mediaryId)).toMatchObject({ kind: 'video' });
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(doc.url);
    await page.waitForSelector('mediary-player');
    await page.evaluate("document.querySelector('mediary-player').play()");
    await page.waitForFunction("document.querySelector('mediary-player').media?.currentTime > 0");
  } finally {
    await browser.close();
  }
});

test('another file of a document removes the asset of the old one', async () => {
  const doc = await create('media', { bytes: await draw('blue'), filename: 'old.png' });
  const before = await listIds();
  const replaced = await payload.call(`PATCH /media/${doc.id}`, {
    file: { bytes: await draw('lime'), filename: 'new.png' },
  });
  const { url, mediaryId } = replaced.body.doc;
  expect(await readPicture(url)).toEqual([640, [0, 256, 0]]);
  expect(url).toContain(mediaryId);
  expect((await listIds()).sort()).toEqual(
    [...before.filter((id) => id !== doc.mediaryId), mediaryId].sort(),
  );
});

test('a document that is deleted takes its asset with it, also one that is gone already', async () => {
  const before = await listIds();
  const [kept, gone] = [
    await create('media', { bytes: await draw('navy'), filename: 'kept.png' }),
    await create('media', { bytes: await draw('gray'), filename: 'gone.png' }),
  ];
  await mediary.media.delete(gone.mediaryId);
  for (const { id } of [kept, gone]) expect((await payload.call(`DELETE /media/${id}`)).status).toBe(200);
  expect(await listIds()).toEqual(before);
});

describe('a file that the service refuses', () => {
  let broken: TestFile;
  beforeAll(async () => {
    // Payload reads the size in the header of a picture, and nothing else.
    broken = { bytes: (await draw('teal')).subarray(0, 60), filename: 'broken.png' };
  });

  test('leaves neither a document nor an asset', async () => {
    const before = await listIds();
    const { totalDocs } = (await payload.call('GET /media')).body;
    const { status, body } = await payload.call('POST /media', { file: broken });
    expect([status, body.errors]).toEqual([400, [{ message: 'The file cannot be read as media.' }]]);
    expect((await payload.call('GET /media')).body.totalDocs).toBe(totalDocs);
    expect(await listIds()).toEqual(before);
  });

  test('is told by its field and what is allowed', async () => {
    const bytes = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
    const { status, body } = await payload.call('POST /media', {
      file: { bytes, filename: 'a.svg', type: 'image/svg+xml' },
    });
    expect([status, body.errors?.[0]?.message]).toEqual([
      400,
      expect.stringMatching(/mime_type.*image\/png/),
    ]);
  });

  test('does not replace the file of a document', async () => {
    const doc = await create('media', { bytes: await draw('red'), filename: 'stays.png' });
    const before = await listIds();
    expect((await payload.call(`PATCH /media/${doc.id}`, { file: broken })).status).toBe(400);
    const { filename, mediaryId, url } = doc;
    expect((await payload.call(`GET /media/${doc.id}`)).body).toMatchObject({ filename, mediaryId, url });
    expect(await readPicture(doc.url)).toEqual([640, [256, 0, 0]]);
    expect(await listIds()).toEqual(before);
  });
});

test('an editor cannot give a document the asset of another one', async () => {
  const doc = await create('media', { bytes: await draw('red'), filename: 'mine.png' });
  const json = { mediaryId: '019aab7c-4d2e-7c55-9f0e-6d1f2b3c4d5e' };
  const { doc: changed } = (await payload.call(`PATCH /media/${doc.id}`, { json })).body;
  expect(changed.mediaryId).toBe(doc.mediaryId);
});

test('a repeated upload creates no second asset, and another file takes its place', async () => {
  const { handleUpload } = mediaryStorage(account)({ collection: { slug: 'media' } });
  const filename = 'same.png';
  const store = async (color: string) => {
    const tempFilePath = join(payload.folder, color);
    await writeFile(tempFilePath, await draw(color));
    const file = { buffer: Buffer.alloc(0), filename, mimeType: 'image/png', tempFilePath };
    return (await handleUpload({ data: { filename }, file })).mediaryId ?? '';
  };
  const id = await store('red');
  const before = await listIds();
  expect([await store('red'), await store('blue'), await store('blue')]).toEqual([id, id, id]);
  expect(await listIds()).toEqual(before);
  const playback = await mediary.media.playback(id);
  expect(await readPicture(playback.image ?? '')).toEqual([640, [0, 0, 256]]);
});

test('a document of a picture can be duplicated', async () => {
  const doc = await create('media', { bytes: await draw('lime'), filename: 'first.png' });
  const { status, body } = await payload.call(`POST /media/${doc.id}/duplicate`);
  expect([status, body.errors]).toEqual([200, undefined]);
  expect(body.doc.mediaryId).not.toBe(doc.mediaryId);
  expect(await readPicture(body.doc.url)).toEqual([640, [0, 256, 0]]);
});

describe('a private file', () => {
  let doc: PayloadDocument;
  beforeAll(async () => {
    doc = await create('members', { bytes: await draw('black'), filename: 'secret.png' });
  });
  const open = (path: string, headers = {}) =>
    fetch(`${payload.origin}${path}`, { redirect: 'manual', headers });

  test('is shown to readers of the collection, with a fresh token', async () => {
    expect(doc.url).toBe('/api/members/file/secret.png?prefix=inside');
    expect(await mediary.media.get(doc.mediaryId)).toMatchObject({
      external_id: 'payload:members/inside/secret.png',
    });
    const answer = await open(doc.url, payload.asEditor);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'no-store']);
    const location = answer.headers.get('location') ?? '';
    expect(await readPicture(location)).toEqual([640, [0, 0, 0]]);
    expect((await fetch(location.replace(/~[^/]+\//, ''))).status).toBe(404);
  });

  test('is not shown to others', async () => {
    expect((await open(doc.url)).status).toBe(403);
  });

  test('that is not there is 404', async () => {
    expect((await open('/api/members/file/none.png', payload.asEditor)).status).toBe(404);
    await mediary.media.delete(doc.mediaryId);
    expect((await open(doc.url, payload.asEditor)).status).toBe(404);
  });
});
