// A client of uploads in parts, as an application would write it.
import type { Asset } from '@mediary/contract/schemas/assets/asset';
import type { Static } from 'typebox';
import type { Started } from '../media.ts';
import { type Answer, call } from '../service.ts';

type Created = {
  uploadId: string;
  key: string;
  part_size_bytes: number;
  max_parts: number;
  expires_at: string;
};
type Signed = { PartNumber: number; url: string; headers: Record<string, string>; expires: number };
type ListedPart = { PartNumber: number; Size: number; ETag: string };

type MultipartClient = {
  create(json?: object): Promise<Answer<Created>>;
  sign(id: string, part: number, query?: string): Promise<Answer<Signed>>;
  signMany(id: string, parts: readonly object[]): Promise<Answer<{ parts: Signed[] }>>;
  list(id: string): Promise<Answer<{ parts: ListedPart[] }>>;
  complete(id: string, parts?: readonly object[]): Promise<Answer<Static<typeof Asset>>>;
  abort(id: string): Promise<Answer<object>>;
};

/** `base`: the URL that answers, where it is not the one of the target. */
export function multipartClient({ upload, asset_id: assetId }: Started, base?: string): MultipartClient {
  const target = new URL(upload?.url ?? '');
  const ticket = target.searchParams.get('ticket') ?? '';
  const root = `${base ?? target.origin}/api/v1/uploads/${assetId}/s3-multipart`;
  const ask = <T>(methodAndPath: string, json?: unknown) => {
    const [method, path = ''] = methodAndPath.split(' ');
    const headers = { 'x-upload-ticket': ticket };
    return call<T>({ url: root }, `${method} ${path}`, { headers, ...(json !== undefined && { json }) });
  };
  return {
    create: (json = {}) => ask('POST ', json),
    sign: (id, part, query = '') => ask(`GET /${id}/${part}${query}`),
    signMany: (id, parts) => ask(`POST /${id}/parts`, { parts }),
    list: (id) => ask(`GET /${id}`),
    complete: (id, parts) => ask(`POST /${id}/complete`, parts ? { parts } : {}),
    abort: (id) => ask(`DELETE /${id}`),
  };
}

export const sendPart = ({ url, headers }: Signed, body: Uint8Array): Promise<Response> =>
  fetch(url, { method: 'PUT', headers, body: Buffer.from(body) });

/** Sends the parts that the store does not have. */
export async function sendParts(
  client: MultipartClient,
  { uploadId, part_size_bytes: size }: Created,
  bytes: Uint8Array,
): Promise<void> {
  const stored = (await client.list(uploadId)).body.data.parts.map(({ PartNumber }) => PartNumber);
  for (let number = 1; (number - 1) * size < bytes.length; number++) {
    if (stored.includes(number)) continue;
    const part = bytes.subarray((number - 1) * size, number * size);
    const { body } = await client.sign(uploadId, number, `?size_bytes=${part.length}`);
    const { status } = await sendPart(body.data, part);
    if (status !== 200) throw new Error(`part ${number}: ${status}`);
  }
}
