// The SDK against the whole service: uploads through broken connections, events, lists, edits and errors.
import { createHash, randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import {
  createMediary,
  isMediaryError,
  type Mediary,
  type MediaryError,
  type UploadProgress,
} from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paintPng } from '../../support/assets/replacements.ts';
import { type BreakingProxy, startBreakingProxy } from '../../support/http/breaking-proxy.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { freePort } from '../../support/http/free-port.ts';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';

const MIB = 1024 * 1024;
let service: TestService;
let proxy: BreakingProxy;
let clip: Blob;
let ann: Mediary;
let backend: Mediary;
beforeAll(async () => {
  const port = await freePort();
  proxy = await startBreakingProxy(port);
  service = await startTestService({
    PORT: String(port),
    PUBLIC_BASE_URL: proxy.origin,
    RESUMABLE_UPLOAD_BYTES: '1000000',
  });
  clip = await openAsBlob(await makeClip({ seconds: 1 }));
  const token = () => signAccessToken({ secret: SECRETS.ACCESS_TOKEN_SECRET, userId: 'ann' });
  ann = createMediary({ baseUrl: proxy.origin, token });
  backend = createMediary({ baseUrl: proxy.origin, serviceKey: SECRETS.SERVICE_API_KEY });
});
afterAll(async () => {
  await service?.stop();
  proxy?.close();
});

test('a small video is sent in one request, followed until it is ready, and played', async () => {
  const seen: UploadProgress[] = [];
  const asset = await ann.media.upload(clip, {
    filename: 'clip.mp4',
    title: 'A clip',
    checksum: true,
    onProgress: (progress) => seen.push(progress),
  });
  expect(asset).toMatchObject({ stream_status: 'processing', title: 'A clip', size_bytes: clip.size });
  expect(seen.at(0)).toMatchObject({ phase: 'preparing', bytesSent: 0, totalBytes: clip.size });
  expect(seen.at(-1)).toMatchObject({ phase: 'completing', bytesSent: clip.size, totalBytes: clip.size });

  const statuses = new Set<string>();
  const ready = await ann.media.waitUntilReady(asset.id, {
    onUpdate: ({ stream_status }) => statuses.add(stream_status),
  });
  expect(ready).toMatchObject({ id: asset.id, progress: 100 });
  expect([...statuses].at(-1)).toBe('ready');
  const { hls } = await ann.media.playback(asset.id);
  expect(await (await fetch(hls ?? '')).text()).toContain('#EXTM3U');
});

test('a file takes the place of another one, which comes back', async () => {
  const picture = async (name: string, width: number) =>
    new File([new Uint8Array(await paintPng(250, width))], name, { type: 'image/png' });
  const { id } = await ann.media.upload(await picture('old.png', 60));
  await ann.media.waitUntilReady(id);
  const replacement = await ann.media.upload(await picture('new.png', 80), { replaces: id });
  expect(replacement.version_of).toBe(id);
  const statuses = (await ann.versions.list(id).page()).items.map(({ role }) => role);
  expect(statuses).toContain('current');
  expect(await ann.media.waitUntilReady(replacement)).toMatchObject({ id, filename: 'new.png', width: 80 });
  expect(await ann.media.waitUntilReady(replacement), 'long over').toMatchObject({ id, width: 80 });
  expect(await ann.versions.rollBack(id)).toMatchObject({ id, filename: 'old.png', width: 60 });
  const given = await ann.media.upload(await picture('gone.png', 90), { replaces: id, resume: false });
  await ann.media.waitUntilReady(given);
  const { asset_id: dropped } = await ann.versions.replace(id, {
    filename: 'none.png',
    content_type: 'image',
    mime_type: 'image/png',
  });
  const waiting = ann.media.waitUntilReady({ id: dropped, version_of: id }).catch((error: unknown) => error);
  await ann.media.delete(dropped);
  // The deletion may come before the first request of the wait.
  expect(['ASSET_DELETED', 'NOT_FOUND']).toContain(((await waiting) as MediaryError).errorCode);
});

test('captions are stored, listed, read and deleted', async () => {
  const { asset_id: id } = await ann.media.createUpload({
    filename: 'clip.mp4',
    content_type: 'video',
    mime_type: 'video/mp4',
  });
  const text = new Blob(['1\n00:00:01,000 --> 00:00:02,000\nOlá\n']);
  const stored = await ann.captions.put(id, 'pt-br', { text, label: 'Português', default: true });
  expect(stored).toMatchObject({ language: 'pt-BR', label: 'Português', default: true });
  const owned = { ownerUserId: 'ann' };
  await backend.captions.put(id, 'en', { text: await ann.captions.get(id, 'pt-BR') }, owned);
  expect((await ann.captions.list(id).page()).items).toMatchObject([
    { language: 'pt-BR' },
    { label: 'English' },
  ]);
  expect(await ann.captions.get(id, 'en')).toMatch(/^WEBVTT\n[\s\S]*Olá\n$/);
  const refused = await ann.captions.put(id, 'en', { text: 'none' }).catch((error: unknown) => error);
  expect(refused).toMatchObject({ reason: 'invalid_captions', details: { line: 1 } });
  expect(await backend.captions.delete(id, 'en', owned)).toEqual({ language: 'en', deleted: true });
});

test('a large file goes on after broken connections, and arrives as it was sent', async () => {
  const film = new Blob([clip, randomBytes(24 * MIB)]);
  const before = proxy.passed();
  let largest = 0;
  const uploading = ann.media.upload(film, {
    filename: 'film.mp4',
    onProgress: ({ bytesSent }) => {
      largest = Math.max(largest, bytesSent);
    },
  });
  for (let cut = 0; cut < 3; cut += 1) await proxy.breakAfter(6 * MIB);
  const { size_bytes, checksum_sha256 } = await uploading;
  const digest = createHash('sha256')
    .update(Buffer.from(await film.arrayBuffer()))
    .digest('hex');
  expect({ size_bytes, checksum_sha256 }).toEqual({ size_bytes: film.size, checksum_sha256: digest });
  expect(largest).toBe(film.size);
  expect(proxy.passed() - before, 'only what was lost is sent again').toBeLessThan(2 * film.size);
});

test('an upload that was aborted continues with the next call', async () => {
  // More than the buffers of both sockets, so that the service has read some of it.
  const film = new File([clip, randomBytes(40 * MIB)], 'paused.mp4', { lastModified: 7 });
  const controller = new AbortController();
  const onProgress = ({ bytesSent }: UploadProgress) => {
    if (bytesSent > 24 * MIB) controller.abort(new Error('paused'));
  };
  await expect(ann.media.upload(film, { signal: controller.signal, onProgress })).rejects.toThrow('paused');
  const { items } = await ann.media.list({ q: 'paused' }).page();
  const first: number[] = [];
  const asset = await ann.media.upload(film, { onProgress: ({ bytesSent }) => first.push(bytesSent) });
  expect(items.map(({ id }) => id)).toEqual([asset.id]);
  expect(
    first.find((bytes) => bytes > 0),
    'what had arrived is not sent again',
  ).toBeGreaterThan(MIB);
});

test('events arrive while they happen, and from a position that was seen', async () => {
  const stream = ann.events.stream();
  const next = stream.next();
  const { id } = await ann.media.upload(clip, { filename: 'watched.mp4' });
  const types: string[] = [];
  let position = '';
  for (let step = await next; !step.done; step = await stream.next()) {
    const event = step.value;
    if (event.asset_id !== id) continue;
    types.push(event.type);
    position ||= event.position;
    if (event.type === 'asset.ready') break;
  }
  await stream.return();
  expect(types).toContain('asset.processing');
  const again = ann.media.events(id, { lastEventId: position });
  expect((await again.next()).value).toMatchObject({ type: types[1] });
  await again.return();
});

test('a back end lists, edits, trashes and restores for an owner', async () => {
  const ownerUserId = 'ben';
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const asset = await backend.media.upload(clip, { ownerUserId, filename: `${name}.mp4` });
    ids.unshift(asset.id);
  }
  const listed: string[] = [];
  for await (const { id } of backend.media.list({ limit: 2 }, { ownerUserId })) listed.push(id);
  expect(listed).toEqual(ids);

  const [id = ''] = ids;
  const edited = await backend.media.update(id, { title: 'C' }, { ownerUserId, ifMatch: 1 });
  expect(edited).toMatchObject({ title: 'C', version: 2 });
  const stale = await backend.media
    .update(id, { title: 'D' }, { ownerUserId, ifMatch: 1 })
    .catch((error) => error);
  expect(isMediaryError(stale, 'PRECONDITION_FAILED')).toBe(true);
  expect(await backend.media.delete(id, { ownerUserId, trash: true })).toEqual({ id, deleted: true });
  expect(await backend.media.restore(id, { ownerUserId })).toMatchObject({ id, deleted_at: null });
  const { url } = await backend.media.downloadUrl(id);
  expect((await fetch(url ?? '')).status).toBe(200);
  const sentences: string[] = [];
  for await (const { type } of backend.media.timeline(id, { limit: 2 })) sentences.push(type);
  expect(sentences.slice(0, 2)).toEqual(['asset.created', 'asset.uploaded']);
  expect(await backend.usage.get({ ownerUserId })).toMatchObject({ assets: { used: 3 } });
});

test('errors name code, reason and request', async () => {
  const failing = async (pending: Promise<unknown>) =>
    pending.then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(await failing(ann.media.get('00000000-0000-7000-8000-000000000000'))).toMatchObject({
    errorCode: 'NOT_FOUND',
    requestId: expect.stringMatching(/.+/),
  });
  expect(
    await failing(
      backend.media.createUpload({ filename: 'x', content_type: 'video', mime_type: 'video/mp4' }),
    ),
  ).toMatchObject({
    errorCode: 'BAD_REQUEST',
    details: { field: 'owner_user_id' },
  });
  const noVideo = await failing(ann.media.upload(new Blob(['no video at all']), { filename: 'x.mp4' }));
  expect(noVideo).toMatchObject({ name: 'UploadError', status: 400, reason: 'type_mismatch' });
  const stranger = createMediary({ baseUrl: service.address, token: 'nonsense' });
  expect(await failing(stranger.media.get('1'))).toMatchObject({
    errorCode: 'UNAUTHORIZED',
    reason: 'malformed',
  });
});
