// @mediary/client/payload: the files of upload collections of Payload CMS are assets.
import type { Asset } from './api/assets.ts';
import type { Visibility } from './api/enums.ts';
import type { Playback } from './api/playback.ts';
import { createMediary } from './mediary.ts';
import { openFile } from './node.ts';
import {
  deleteStoredAsset,
  findStoredAsset,
  type StorageCalls,
  storeFile,
  toPayloadError,
} from './payload/store-file.ts';

export type MediaryStorageOptions = {
  /** Origin of the service, as the server of Payload reaches it. */
  baseUrl: string;
  /** Key of a back end. */
  serviceKey: string;
  /** The owner of all assets of the collection. */
  ownerUserId: string;
  /** Of new assets. Default `private`. */
  visibility?: Visibility | undefined;
  /** Origin of the service in the URLs of public files. Default: `baseUrl`. */
  publicUrl?: string | undefined;
  /** What the URL of a video or a sound opens: a page with a player (default), or the HLS manifest. */
  videoUrl?: 'embed' | 'hls' | undefined;
  /** Default: the `fetch` of the platform. */
  fetch?: typeof fetch | undefined;
};

type Collection = { readonly slug: string };
/** A document of Payload, or a part of it. */
type PayloadDocument = {
  readonly id?: unknown;
  readonly filename?: unknown;
  readonly mimeType?: unknown;
  readonly prefix?: unknown;
  readonly url?: unknown;
  readonly mediaryId?: unknown;
};
type PayloadFile = {
  readonly buffer: Uint8Array;
  readonly filename: string;
  readonly mimeType: string;
  /** Of `upload.useTempFiles`: the buffer is empty then. */
  readonly tempFilePath?: string | undefined;
};
type FileParams = { readonly filename: string; readonly prefix?: string | undefined };

/** Has the shape of `GeneratedAdapter` of `@payloadcms/plugin-cloud-storage`. */
export type MediaryStorageAdapter = {
  name: string;
  fields: {
    name: 'mediaryId';
    type: 'text';
    label: string;
    index: true;
    admin: { readOnly: true };
    access: { create(): false; update(): false };
  }[];
  handleUpload(args: {
    readonly data: PayloadDocument;
    readonly file: PayloadFile;
    // `filename` is never set. TypeScript wants one member that Payload's type has too.
  }): Promise<{ filename?: never; url?: string; mediaryId?: string }>;
  handleDelete(args: { readonly doc: PayloadDocument; readonly filename: string }): Promise<void>;
  generateURL(args: {
    readonly data: PayloadDocument;
    readonly filename: string;
    readonly prefix?: string;
  }): Promise<string>;
  staticHandler(
    request: unknown,
    args: { readonly doc?: PayloadDocument; readonly headers?: Headers; readonly params: FileParams },
  ): Promise<Response>;
};

type Storage = MediaryStorageOptions & {
  readonly media: StorageCalls;
  readonly collection: Collection;
  /** Of the collection, for documents that have none. */
  readonly prefix: string;
};

/**
 * `adapter` of `cloudStoragePlugin` for one collection. Each document has `mediaryId`, the id of its asset.
 *
 * @example
 * cloudStoragePlugin({
 *   collections: { media: { adapter: mediaryStorage({ baseUrl, serviceKey, ownerUserId: 'cms' }) } },
 * });
 */
export function mediaryStorage(
  options: MediaryStorageOptions,
): (args: { readonly collection: Collection; readonly prefix?: string }) => MediaryStorageAdapter {
  const { baseUrl, serviceKey, ownerUserId, fetch } = options;
  const { media } = createMediary({ baseUrl, serviceKey, ownerUserId, fetch });
  return ({ collection, prefix = '' }) => {
    const storage = { ...options, media, collection, prefix };
    return {
      name: 'mediary',
      fields: [
        {
          name: 'mediaryId',
          type: 'text',
          label: 'Mediary asset',
          index: true,
          admin: { readOnly: true },
          // Editors must not name assets of others.
          access: { create: () => false, update: () => false },
        },
      ],
      handleUpload: (args) => withPayloadErrors(storeUpload(storage, args)),
      handleDelete: (args) => withPayloadErrors(deleteFile(storage, args)),
      generateURL: (args) => withPayloadErrors(generateUrl(storage, args)),
      staticHandler: (_request, args) => withPayloadErrors(redirectToFile(storage, args)),
    };
  };
}

const withPayloadErrors = <T>(result: Promise<T>): Promise<T> =>
  result.catch((error: unknown) => {
    throw toPayloadError(error);
  });

/** Files of a document with another prefix are other files. */
function toExternalId({ collection, prefix }: Storage, filename: string, own: unknown): string {
  const folder = typeof own === 'string' && own !== '' ? own : prefix;
  return `payload:${[collection.slug, folder, filename].filter(Boolean).join('/')}`;
}

type UploadArgs = Parameters<MediaryStorageAdapter['handleUpload']>[0];

async function storeUpload(
  storage: Storage,
  { data, file }: UploadArgs,
): ReturnType<MediaryStorageAdapter['handleUpload']> {
  const { filename, mimeType, buffer, tempFilePath } = file;
  const id = await storeFile(storage.media, {
    externalId: toExternalId(storage, filename, data.prefix),
    filename,
    mimeType,
    visibility: storage.visibility ?? 'private',
    content: tempFilePath ? await openFile(tempFilePath) : new Blob([buffer as Uint8Array<ArrayBuffer>]),
  });
  // The document names the asset of its own file, not those of `imageSizes`.
  if (filename !== data.filename) return {};
  if (!isGenerated(storage, data.url)) return { mediaryId: id };
  return { mediaryId: id, url: await toUrl(storage, { id, mimeType }) };
}

async function deleteFile(
  storage: Storage,
  { doc, filename }: Parameters<MediaryStorageAdapter['handleDelete']>[0],
): Promise<void> {
  const asset = await findStoredAsset(storage.media, toExternalId(storage, filename, doc.prefix));
  if (asset) await deleteStoredAsset(storage.media, asset.id);
}

/** Payload asks before the upload too: the URL is empty then. */
async function generateUrl(
  storage: Storage,
  { data, filename, prefix }: Parameters<MediaryStorageAdapter['generateURL']>[0],
): Promise<string> {
  const { mediaryId: id, mimeType } = data;
  if (filename === data.filename && typeof id === 'string' && typeof mimeType === 'string')
    return toUrl(storage, { id, mimeType });
  if (data.id === undefined) return '';
  const asset = await findStoredAsset(storage.media, toExternalId(storage, filename, prefix));
  return asset ? toUrl(storage, { id: asset.id, mimeType: asset.mime_type }) : '';
}

/** False where Payload's own file endpoint serves the file, which redirects. */
const isGenerated = ({ collection }: Storage, url: unknown): boolean =>
  typeof url === 'string' && !url.includes(`/${collection.slug}/file/`);

async function toUrl(
  { media, visibility, baseUrl, publicUrl = baseUrl, videoUrl }: Storage,
  { id, mimeType }: { readonly id: string; readonly mimeType: string },
): Promise<string> {
  if (visibility !== 'public') return findPlaybackUrl(await media.playback(id), videoUrl) ?? '';
  const playback = `${publicUrl.replace(/\/+$/, '')}/api/v1/playback/${id}`;
  if (mimeType.startsWith('image/')) return `${playback}/image`;
  return `${playback}/${videoUrl === 'hls' ? 'hls.m3u8' : 'embed'}`;
}

/** Null until the asset can be shown. Videos of hosted providers have no page. */
function findPlaybackUrl(playback: Playback, videoUrl: 'embed' | 'hls' = 'embed'): string | null {
  if (playback.kind === 'image') return playback.image;
  return videoUrl === 'embed' ? (playback.embed ?? playback.hls) : playback.hls;
}

/** Payload has checked that the reader may have the file. */
async function redirectToFile(
  storage: Storage,
  { doc, headers: given, params }: Parameters<MediaryStorageAdapter['staticHandler']>[1],
): Promise<Response> {
  const { media, videoUrl } = storage;
  const headers = new Headers(given);
  // URLs of private files expire.
  headers.set('cache-control', 'no-store');
  const externalId = toExternalId(storage, params.filename, doc?.prefix ?? params.prefix);
  const asset = await findStoredAsset(media, externalId);
  if (!asset || isUnplayable(asset)) return new Response('Not found', { status: 404, headers });
  const url = findPlaybackUrl(await media.playback(asset.id), videoUrl);
  headers.set(url === null ? 'retry-after' : 'location', url ?? '5');
  return new Response(null, { status: url === null ? 503 : 302, headers });
}

const isUnplayable = ({ stream_status: status }: Asset): boolean =>
  status === 'failed' || status === 'pending_upload';
