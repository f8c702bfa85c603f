// Every kind of request that reaches the database or the store, with what it needs and how it ends, for tests
// that inject a fault into it.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { makeClip } from '../clips/clips.ts';
import { expectSuccess, type Seen } from './envelope.ts';
import { IMAGE, openUpload, putBytes } from '../media.ts';
import { bombPng } from '../clips/pictures.ts';
import { asUser, call, type TestService } from '../service.ts';
import { linkVideo, READY, signatureOf, tell } from '../providers/webhooks.ts';

/** What a request is about; `url`: where it goes, `name`: how a provider or a caller calls it. */
export type Made = { readonly id: string; readonly url?: string; readonly name?: string };
type Ask = (at: TestService, made: Made) => Promise<Seen>;
/**
 * `ends`: the status of its success. `unheard`: how it is answered again where all was done, and only nobody
 * heard of it.
 */
type Kind = {
  readonly make: (at: TestService) => Promise<Made>;
  readonly ask: Ask;
  readonly ends?: number;
  readonly unheard?: { readonly status: number; readonly reason?: string };
};

const PICTURE = bombPng(16, 16);
const MUCH = Buffer.alloc(3_000_000, 'more than is read at once ');
const headers = asUser('ann');
const clip = async () => readFile(await makeClip({ seconds: 1 }));

const opened =
  (fields: object) =>
  async (at: TestService): Promise<Made> => {
    const { asset_id: id, upload_url: url } = await openUpload(at, 'ann', fields);
    return { id, url: url as string };
  };

const stored =
  (bytes: Uint8Array | (() => Promise<Uint8Array>), fields: object = IMAGE) =>
  async (at: TestService): Promise<Made> => {
    const started = await openUpload(at, 'ann', fields);
    expectSuccess(await putBytes(started, typeof bytes === 'function' ? await bytes() : bytes));
    return { id: started.asset_id };
  };

const downloadable =
  (bytes: Uint8Array) =>
  async (at: TestService): Promise<Made> => {
    const { id } = await stored(bytes)(at);
    return {
      id,
      url: String(expectSuccess(await call(at, `GET /media/${id}/download-url`, { headers }))['url']),
    };
  };

const removed = async (at: TestService): Promise<Made> => {
  const made = await stored(PICTURE)(at);
  expectSuccess(await call(at, `DELETE /media/${made.id}?trash=true`, { headers }));
  return made;
};

const failed = async (at: TestService): Promise<Made> => {
  const made = await stored(clip, {})(at);
  await tell(at, 'onprem', { asset_id: made.id, status: 'failed' });
  return made;
};

const linked =
  (provider: 'cdnhost' | 'edgehost') =>
  async (at: TestService): Promise<Made> => {
    const name = randomUUID();
    return { id: (await linkVideo(at, { provider, provider_video_id: name })).asset_id, name };
  };

const named = async (): Promise<Made> => ({ id: '', name: randomUUID() });

const on =
  (line: (id: string) => string, json?: object): Ask =>
  (at, { id }) =>
    call(at, line(id), { headers, json });

const toDoor =
  (provider: 'cdnhost' | 'edgehost' | 'onprem'): Ask =>
  (at, { id, name = id }) => {
    const body = JSON.stringify(READY[provider](name));
    return call(at, `POST /webhooks/stream/${provider}`, { headers: signatureOf(provider, body), body });
  };

/** Status 0 where the bytes end too early. */
const download: Ask = async (_at, { url = '' }) => {
  const {
    status,
    headers: responseHeaders,
    ...response
  } = await fetch(url).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    bytes: await answer.bytes().catch(() => undefined),
  }));
  return {
    status: response.bytes ? status : 0,
    headers: responseHeaders,
    body: Buffer.from(response.bytes ?? []).toString(),
  };
};

export const KINDS: Readonly<Record<string, Kind>> = {
  'upload-url': { make: named, ask: on(() => 'POST /media/upload-url', IMAGE) },
  'upload-url with a key': {
    make: named,
    ask: (at, { name = '' }) =>
      call(at, 'POST /media/upload-url', {
        headers: { ...asUser('keyed'), 'idempotency-key': name },
        json: IMAGE,
      }),
  },
  PUT: {
    make: opened(IMAGE),
    ask: (at, { url }) => call(at, `PUT ${url}`, { body: PICTURE }),
    unheard: { status: 409, reason: 'already_uploaded' },
  },
  'complete of a picture': { make: stored(PICTURE), ask: on((id) => `POST /media/${id}/complete`) },
  'complete of a video': { make: stored(clip, {}), ask: on((id) => `POST /media/${id}/complete`) },
  'complete of what is refused': {
    make: stored(clip),
    ask: on((id) => `POST /media/${id}/complete`),
    ends: 400,
  },
  get: { make: opened(IMAGE), ask: on((id) => `GET /media/${id}`) },
  list: { make: opened(IMAGE), ask: on(() => 'GET /media?count=true') },
  patch: { make: opened(IMAGE), ask: on((id) => `PATCH /media/${id}`, { title: 'another' }) },
  delete: { make: stored(PICTURE), ask: on((id) => `DELETE /media/${id}`), unheard: { status: 404 } },
  restore: { make: removed, ask: on((id) => `POST /media/${id}/restore`) },
  retry: { make: failed, ask: on((id) => `POST /media/${id}/retry`) },
  playback: { make: opened(IMAGE), ask: on((id) => `GET /media/${id}/playback`) },
  'download-url': { make: stored(PICTURE), ask: on((id) => `GET /media/${id}/download-url`) },
  'download of little': { make: downloadable(PICTURE), ask: download },
  'download of much': { make: downloadable(MUCH), ask: download },
  'webhook of cdnhost': { make: linked('cdnhost'), ask: toDoor('cdnhost') },
  'webhook of edgehost': { make: linked('edgehost'), ask: toDoor('edgehost') },
  'webhook of an encoder': { make: opened({}), ask: toDoor('onprem') },
  'webhook that is parked': { make: named, ask: toDoor('cdnhost') },
};
