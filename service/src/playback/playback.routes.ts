// Serves playback URLs to owners, and manifests and segments to viewers (contract B5).
import { getPlayback, getSegment, publicEntryOperations } from '@mediary/contract/operations/playback';
import { publicExtraOperations } from '@mediary/contract/operations/video-extras';
import type { PlaybackAsset } from '../assets/asset.ts';
import type { SegmentEncryption } from '../assets/segment-encryption.ts';
import { isByCookie } from '../auth/playback-cookie.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { Bound, BoundOperations } from '../platform/bind.ts';
import { attachment, redirectToTokenPath, sendVersion } from '../platform/http/headers.ts';
import { versionOf } from '../platform/http/page-script.ts';
import { type BytesExchange, bytesRoute, type Route } from '../platform/http/route.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import type * as cacheOperations from './cache-headers.ts';
import type * as composedOperations from './composed-files.ts';
import type { EncryptedFile, findEncryptedFile } from './encrypted-files.ts';
import type * as playbackOperations from './playback.ts';
import type { SegmentResponseCache } from './segment-response-cache.ts';
import { isSegment } from './segment-redirect.ts';
import type * as redirectOperations from './segment-redirect.ts';
import { findDownloadName, toDownloadSearch } from './download-name.ts';
import { getServedFile, contentTypeOf } from './served-file.ts';

type Playback = BoundOperations<typeof playbackOperations> &
  Pick<BoundOperations<typeof growingOperations>, 'findManifest'> &
  Pick<BoundOperations<typeof redirectOperations>, 'redirectToStore' | 'findInternalRedirect'> &
  BoundOperations<typeof cacheOperations> &
  BoundOperations<typeof composedOperations> & {
    readonly findEncryptedFile: Bound<typeof findEncryptedFile>;
    readonly segmentEncryption: SegmentEncryption;
    readonly cacheSegment: SegmentResponseCache['add'];
  };

export const playbackRoutes = (
  playback: Playback,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset(getPlayback, async ({ asset, query }) => playback.getPlayback(asset, query.access), {
    setCookie: ({ asset, query }) =>
      query.access === 'cookie' ? playback.createPlaybackCookie(asset) : undefined,
  }),
  ...[...publicEntryOperations, ...publicExtraOperations].map((operation) =>
    bytesRoute(operation, {
      handle: (request, reply) =>
        serveEntryFile({ playback, objects }, { request, reply }, basename(operation.path)),
    }),
  ),
  // One pattern for the files in manifests, with and without a token.
  bytesRoute(getSegment, {
    path: '/api/v1/playback/{id}/*',
    handle: (request, reply) => servePath({ playback, objects }, { request, reply }),
  }),
];

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

type Needs = { readonly playback: Playback; readonly objects: ObjectResponses };

type EntryExchange = BytesExchange<
  { readonly token?: string; readonly download?: string },
  { readonly id: string }
>;

async function serveEntryFile(needs: Needs, exchange: EntryExchange, file: string): Promise<unknown> {
  const { id } = exchange.request.params;
  const { token, download } = exchange.request.query;
  if (token === undefined) return serve(needs, exchange, { id, token, path: file });
  await needs.playback.findPlayableAsset(id, { token, cookie: undefined });
  return redirectToTokenPath(exchange.reply, token, `${file}${toDownloadSearch(download)}`);
}

type PathExchange = BytesExchange<unknown, { readonly id: string; readonly '*': string }>;

async function servePath(needs: Needs, exchange: PathExchange): Promise<unknown> {
  const { id, '*': rest } = exchange.request.params;
  const [, token, path] = /^~([^/]*)\/(.*)$/.exec(rest) ?? [];
  return serve(needs, exchange, { id, token, path: path ?? rest });
}

type RequestedPath = { readonly id: string; readonly token: string | undefined; readonly path: string };

async function serve(
  needs: Needs,
  exchange: BytesExchange,
  { id, token, path }: RequestedPath,
): Promise<unknown> {
  const { cookie } = exchange.request.headers;
  const asset = await needs.playback.findPlayableAsset(id, { token, cookie });
  const encrypted = needs.playback.findEncryptedFile(asset, path);
  return encrypted
    ? serveEncrypted(needs, exchange, { asset, token, path, file: encrypted })
    : servePlain(needs, exchange, { asset, token, path });
}

type AllowedPath = { readonly asset: PlaybackAsset } & Omit<RequestedPath, 'id'>;

async function servePlain(
  needs: Needs,
  { request, reply }: BytesExchange,
  { asset, token, path }: AllowedPath,
): Promise<unknown> {
  const { playback } = needs;
  const served = getServedFile(asset, path, {
    resolveHosted: () => playback.resolveHostedUrls(asset),
    segmentEncryption: playback.segmentEncryption,
  });
  if ('location' in served)
    return reply.header('cache-control', 'no-store').redirect(toHeaderValue(served.location), 302);
  const { key } = served;
  const isEntry = served.isEntry && !isVersioned(request.query, served.version);
  const headers = {
    'content-type': contentTypeOf(path),
    ...playback.buildCacheHeaders(asset, { isEntry, isSegment: isSegment(path), token }),
  };
  const composed = await composeManifest(playback, asset, { ...served, path });
  return composed
    ? sendManifest(composed, { request, reply }, { asset, headers })
    : sendStored(needs, { request, reply }, { asset, token, path, key, headers, isCacheable: !isEntry });
}

type StoredFile = AllowedPath & {
  readonly key: ObjectKey;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether its bytes may be cached in memory. */
  readonly isCacheable: boolean;
};

/** By the store, by the web server in front, or by the service itself. */
async function sendStored(
  { playback, objects }: Needs,
  { request, reply }: BytesExchange,
  { asset, token, path, key, headers: typeAndCaching, isCacheable }: StoredFile,
): Promise<unknown> {
  const name = findDownloadName(request.query, path);
  const disposition = name === undefined ? undefined : attachment(name);
  const redirect = await playback.redirectToStore({ key, path, method: request.method, disposition });
  if (redirect) return reply.headers(redirect.headers).redirect(redirect.url, 302);
  const known = { ...typeAndCaching, ...(disposition && { 'content-disposition': disposition }) };
  const internal = playback.findInternalRedirect({
    key,
    path,
    isByCookie: isByCookie(asset, token),
    addresses: () => request.ips ?? [],
  });
  if (internal) {
    reply.headers(known).headers(internal);
    playback.cacheSegment({ ...toSent({ request, reply }), asset, token });
    return reply.send('');
  }
  const etag = key.slice(key.lastIndexOf('/', key.lastIndexOf('/') - 1) + 1);
  const { status, headers, body } = await objects.sendObject(
    { request, reply },
    { key, etag, headers: known, isCacheable, missing: playbackNotFound },
  );
  reply.code(status).headers(headers);
  if (isSegment(path)) playback.cacheSegment({ ...toSent({ request, reply }), asset, token, key });
  return reply.send(body);
}

const toSent = ({ request: { raw, socket }, reply }: BytesExchange) => ({
  url: raw.url,
  address: socket.remoteAddress,
  status: reply.statusCode,
  headers: reply.getHeaders(),
});

type EncryptedPath = AllowedPath & { readonly file: EncryptedFile };

/** The service sends these files itself, because the store and the web server have only plain ones. */
async function serveEncrypted(
  { playback, objects }: Needs,
  { request, reply }: BytesExchange,
  { asset, token, path, file }: EncryptedPath,
): Promise<unknown> {
  if (file.kind === 'key') return reply.headers(KEY_HEADERS).send(file.bytes);
  const caching = playback.buildCacheHeaders(asset, { isEntry: false, isSegment: isSegment(path), token });
  const known = { 'content-type': contentTypeOf(path), ...caching };
  const composed = await composeManifest(playback, asset, { ...file, path });
  if (composed) return sendManifest(composed, { request, reply }, { asset, headers: known });
  // The path contains the key id, so that the ETag changes with the key.
  const object = { key: file.key, etag: path, headers: known, isCacheable: true, missing: playbackNotFound };
  const { status, headers, body } = await (file.kind === 'segment'
    ? objects.sendEncryptedObject({ request, reply }, { ...object, cipher: file.cipher })
    : objects.sendObject({ request, reply }, object));
  return reply.code(status).headers(headers).send(body);
}

const KEY_HEADERS = {
  'content-type': 'application/octet-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

const GROWING_MAX_AGE_S = 1;

/** Players read a growing manifest again every few seconds. */
const growingHeaders = ({ visibility }: PlaybackAsset) => ({
  'cache-control': `${visibility}, max-age=${GROWING_MAX_AGE_S}`,
});

type StoredPath = Pick<Extract<ReturnType<typeof getServedFile>, { key: unknown }>, 'key' | 'growing'> & {
  readonly path: string;
};
type ComposedManifest = { readonly text: string; readonly isGrowing: boolean };

/** Undefined for files that are sent as they are stored. */
async function composeManifest(
  playback: Playback,
  asset: PlaybackAsset,
  { key, path, growing: named }: StoredPath,
): Promise<ComposedManifest | undefined> {
  const growing = named && (await playback.findManifest({ assetId: asset.id, ...named }));
  const text = (await playback.composeFile(asset, { path, key, growing })) ?? growing;
  return text === undefined ? undefined : { text, isGrowing: growing !== undefined };
}

type ManifestHeaders = {
  readonly asset: PlaybackAsset;
  /** The headers of a manifest that does not grow. */
  readonly headers: Readonly<Record<string, string>>;
};

function sendManifest(
  { text, isGrowing }: ComposedManifest,
  { request, reply }: BytesExchange,
  { asset, headers }: ManifestHeaders,
): unknown {
  reply.headers({
    ...headers,
    ...(isGrowing && growingHeaders(asset)),
    'x-content-type-options': 'nosniff',
  });
  return sendVersion({ request, reply }, `"${versionOf(text)}"`, text);
}

const isVersioned = (query: unknown, version: string | undefined): boolean =>
  version !== undefined && (query as { readonly v?: unknown }).v === version;

/** Headers are ASCII: other characters of a reported URL are percent-encoded. */
const toHeaderValue = (url: string): string => (/^[!-~]*$/.test(url) ? url : new URL(url).href);
