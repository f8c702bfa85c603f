// The steps of most journeys: create an upload, send the bytes, complete, wait until processing ends.
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { IS_BY_SDK } from './uploads/sdk-calls.ts';
import { uploadBySdk, waitBySdk } from './uploads/sdk-uploads.ts';
import { type Answer, asUser, call, eventually } from './service.ts';

type Api = { readonly url: string };
export type AssetJson = Record<string, unknown> & {
  id: string;
  stream_status: string;
  progress: number;
  failure: { code: string; message: string; retryable: boolean } | null;
};
type Target = {
  protocol: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  max_bytes: number;
  expires_at: string;
  part_size_bytes?: number;
};
export type Started = {
  asset_id: string;
  asset: AssetJson;
  upload_url: string | null;
  upload: Target | null;
  alternatives: Target[];
};

export const VIDEO = { filename: 'clip.mp4', content_type: 'video', mime_type: 'video/mp4' };
export const IMAGE = { filename: 'picture.png', content_type: 'image', mime_type: 'image/png' };

/** Opens an upload as a user; `fields` go over those of a small video. */
export async function openUpload(service: Api, user: string, fields: object = {}): Promise<Started> {
  const answer = await call<Started>(service, 'POST /media/upload-url?expand=asset', {
    headers: asUser(user),
    json: { ...VIDEO, ...fields },
  });
  if (answer.status !== 200) throw new Error(`upload-url: ${JSON.stringify(answer.body)}`);
  return answer.body.data;
}

/** Sends the bytes to the service itself, also where the store takes them directly. */
export function putBytes(
  started: Started,
  bytes: Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer<AssetJson>> {
  const { url, headers: own } = servicePut(started);
  return call<AssetJson>({ url: '' }, `PUT ${url}`, { headers: { ...own, ...headers }, body: bytes });
}

const isServicePut = ({ protocol, url }: Pick<Target, 'protocol' | 'url'>): boolean =>
  protocol === 'put' && url.includes('/api/v1/uploads/');

export function servicePut({
  upload,
  upload_url: url,
  alternatives,
}: Started): Pick<Target, 'url' | 'headers'> {
  // Tests change the URL alone.
  if (upload && url && isServicePut({ ...upload, url })) return { ...upload, url };
  const found = alternatives.find(isServicePut);
  if (!found) throw new Error('the service itself takes no PUT');
  return found;
}

export const complete = (service: Api, user: string, id: string): Promise<Answer<AssetJson>> =>
  call<AssetJson>(service, `POST /media/${id}/complete`, { headers: asUser(user) });

export const readAsset = async (service: Api, user: string, id: string): Promise<AssetJson> =>
  (await call<AssetJson>(service, `GET /media/${id}`, { headers: asUser(user) })).body.data;

/** Waits until the asset is ready or failed. */
export const settled = async (service: Api, user: string, id: string): Promise<AssetJson> =>
  IS_BY_SDK
    ? ((await waitBySdk(service, asUser(user), id)) as AssetJson)
    : eventually(
        () => readAsset(service, user, id),
        ({ stream_status: status }) => status === 'ready' || status === 'failed',
        { withinMs: 240_000 },
      );

type Processing = { readonly id: string; readonly progress: number; readonly withinMs?: number };

/** After `progress`. Fails if progress ever falls. */
export async function settledWithoutFalling(
  service: Api,
  user: string,
  { id, progress, withinMs }: Processing,
): Promise<AssetJson> {
  let furthest = progress;
  return eventually(
    async () => {
      const seen = await readAsset(service, user, id);
      expect(seen.progress).toBeGreaterThanOrEqual(furthest);
      furthest = seen.progress;
      return seen;
    },
    ({ stream_status: status }) => status !== 'processing',
    { withinMs },
  );
}

/** From nothing to settled: the whole way of a file. */
export async function ingest(
  service: Api,
  user: string,
  { file, fields = {} }: { file: string; fields?: object },
): Promise<AssetJson> {
  const bytes = await readFile(file);
  const { id, completed } = await offer(service, user, { bytes, fields });
  if (completed.status !== 200) throw new Error(`complete: ${JSON.stringify(completed.body)}`);
  return settled(service, user, id);
}

/** The way of bytes that may be refused: the answers on it. */
export async function offer(
  service: Api,
  user: string,
  { bytes, fields = {} }: { bytes: Uint8Array; fields?: object },
): Promise<Offered> {
  const bySdk = IS_BY_SDK ? await offerBySdk(service, user, { bytes, fields }) : undefined;
  if (bySdk) return bySdk;
  const started = await openUpload(service, user, fields);
  const stored = await putBytes(started, bytes);
  return { id: started.asset_id, stored, completed: await complete(service, user, started.asset_id) };
}

type Offered = { id: string; stored: Answer<AssetJson>; completed: Answer<AssetJson> };

/** The SDK does not complete an upload whose bytes were refused. */
async function offerBySdk(
  service: Api,
  user: string,
  { bytes, fields }: { bytes: Uint8Array; fields: object },
): Promise<Offered | undefined> {
  const uploaded = await uploadBySdk(service, asUser(user), {
    file: new Blob([Buffer.from(bytes)]),
    fields: { ...VIDEO, ...fields },
    options: { protocol: 'put' },
  });
  if (!uploaded) return undefined;
  const { id, stored, completed } = uploaded;
  return {
    id,
    stored: stored as Answer<AssetJson>,
    completed: (completed as Answer<AssetJson> | undefined) ?? (await complete(service, user, id)),
  };
}

/** Uploads an image of ann, and waits until it is ready. */
export const storeImage = async (service: Api, bytes: Uint8Array, fields: object = {}): Promise<AssetJson> =>
  settled(service, 'ann', (await offer(service, 'ann', { bytes, fields: { ...IMAGE, ...fields } })).id);

/** `image` of the playback of an asset of ann. */
export const imageUrlOf = async (service: Api, { id }: Pick<AssetJson, 'id'>): Promise<string> =>
  (await call<{ image: string }>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data
    .image;
