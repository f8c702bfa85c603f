// Plans the response to a request for a playback file: a redirect, a stored object or a manifest. Reads and
// sends nothing (contract B5).
import { isCheckedPerRequest } from '../assets/access-rules.ts';
import type { PlaybackAsset } from '../assets/asset.ts';
import { limitMaxAge, limitSeconds } from '../assets/expiry.ts';
import { type PlayUrls, playbackNotFound } from '../assets/playback-manifest.ts';
import { isEncrypted, type SegmentEncryption } from '../assets/segment-encryption.ts';
import type { Secret } from '../auth/secret.ts';
import { findNamedCaption, formatCaptionPlaylist } from '../captions/manifest-captions.ts';
import { isEarlyPlaylist, type ManifestRequest } from '../encoding/packaging/manifests.ts';
import type { ObjectKey } from '../storage/object-key.ts';
import { buildCacheHeaders, type CdnMaxAge } from './cache-headers.ts';
import { chaptersJsonUri, chaptersVersion, formatChapters, isChapterFile } from './chapter-files.ts';
import { assertDownloadable, findDownloadName } from './downloads/download-name.ts';
import { currentKeyId, type EncryptedFile, findEncryptedFile } from './encrypted-files.ts';
import type { FileHeaders, PlannedObject, PlannedResponse } from './planned-response.ts';
import { contentTypeOf, resolveFile } from './served-file.ts';

/**
 * Who sends the bytes of segments. `redirect`: the S3 store. `x-accel-redirect` and `x-sendfile`: the web
 * server in front of the service, from the files of the disk store.
 */
export type SegmentDelivery = 'service' | 'redirect' | 'x-accel-redirect' | 'x-sendfile';

/** How files reach players: the settings, and what the store can do. */
export type FileDelivery = {
  readonly segments: SegmentDelivery;
  readonly segmentEncryption: SegmentEncryption;
  /** Of HLS. */
  readonly audioVariant: 'on' | 'off';
  readonly cdnMaxAge: CdnMaxAge;
  /** The internal location of the web server that contains `storeFolder`. */
  readonly accelPrefix: string;
  readonly storeFolder: string;
  readonly localFile: (key: ObjectKey) => string | undefined;
  /** Whether players can reach the store. */
  readonly isStoreReachable: boolean;
  readonly urlSecrets: readonly Secret[];
  readonly now: () => Date;
  /** Called for entry files only, because a signature costs more than the response. */
  readonly findHostedUrls: (asset: PlaybackAsset) => PlayUrls | undefined;
};

export type FileRequest = {
  readonly path: string;
  readonly method: string;
  readonly query: unknown;
  /** The token in the path; undefined: a public asset, or a private one by cookie. */
  readonly token: string | undefined;
  /** Whether the request came through a trusted web server. */
  readonly isProxied: () => boolean;
};

/** Throws NOT_FOUND for files that the asset does not have. */
export function planResponse(
  asset: PlaybackAsset,
  request: FileRequest,
  delivery: FileDelivery,
): PlannedResponse {
  const encrypted = findEncryptedFile(delivery.urlSecrets, asset, request.path);
  return encrypted
    ? planEncrypted(asset, { ...request, file: encrypted }, delivery)
    : planPlain(asset, request, delivery);
}

/** The service sends these files itself, because the store and the web server have only plain ones. */
function planEncrypted(
  asset: PlaybackAsset,
  { path, token, file }: FileRequest & { readonly file: EncryptedFile },
  delivery: FileDelivery,
): PlannedResponse {
  if (file.kind === 'key') return { kind: 'segment-key', bytes: file.bytes };
  const isEntry = file.kind === 'playlist' && isEarlyPlaylist(file.name);
  const headers = headersOf(asset, { path, token, isEntry }, delivery);
  if (file.kind === 'playlist') return toManifest(asset, file, headers);
  return {
    kind: 'object',
    key: file.key,
    // The path contains the key id, so that the ETag changes with the key.
    etag: path,
    headers,
    isCacheable: true,
    isRepeatable: false,
    ...(file.kind === 'segment' && { cipher: file.cipher }),
  };
}

function planPlain(asset: PlaybackAsset, request: FileRequest, delivery: FileDelivery): PlannedResponse {
  const { path, token, query } = request;
  assertDownloadable(asset, path);
  if (isChapterFile(path)) return planChapters(asset, request, delivery);
  const file = resolveFile(asset, path, delivery);
  if (file.kind === 'elsewhere') return { kind: 'redirect', location: file.location };
  if (file.kind === 'manifest') {
    const headers = headersOf(asset, { path, token, isEntry: file.isEntry }, delivery);
    const hasAudioVariant = delivery.audioVariant === 'on';
    return toManifest(asset, { name: file.name, keyId: keyIdFor(asset, delivery), hasAudioVariant }, headers);
  }
  const isEntry = file.isEntry && !isVersioned(query, file.version);
  const headers = headersOf(asset, { path, token, isEntry }, delivery);
  const playlist = findCaptionPlaylist(asset, path);
  if (playlist !== undefined) return { kind: 'text', text: playlist, headers };
  return planStored(asset, { ...request, key: file.key, headers, isCacheable: !isEntry }, delivery);
}

/** Rendered from the asset, for videos that the service encoded. */
function planChapters(
  asset: PlaybackAsset,
  { path, token, query }: FileRequest,
  delivery: FileDelivery,
): PlannedResponse {
  if (asset.playback?.kind !== 'own') throw playbackNotFound();
  const isEntry = !isVersioned(query, chaptersVersion(asset));
  const headers = headersOf(asset, { path, token, isEntry }, delivery);
  return { kind: 'text', text: formatChapters(asset, path), headers };
}

function toManifest(
  asset: PlaybackAsset,
  { name, keyId, hasAudioVariant = false }: Pick<ManifestRequest, 'name' | 'keyId' | 'hasAudioVariant'>,
  headers: FileHeaders,
): PlannedResponse {
  const { playback, captions } = asset;
  if (playback?.kind !== 'own') throw playbackNotFound();
  const chaptersUri = name === 'hls.m3u8' ? chaptersJsonUri(asset) : undefined;
  const { folder, extras } = playback;
  const hasStoryboard = extras?.includes('storyboard') === true;
  const manifest = {
    name,
    folder,
    keyId,
    captions: captions ?? [],
    hasStoryboard,
    hasAudioVariant,
    chaptersUri,
  };
  return { kind: 'manifest', manifest, isGrowing: playback.growing === true, headers };
}

/** Undefined: players get plain segments. */
const keyIdFor = (
  asset: PlaybackAsset,
  { segmentEncryption, urlSecrets }: FileDelivery,
): string | undefined =>
  asset.playback?.kind === 'own' && isEncrypted(segmentEncryption, asset)
    ? currentKeyId(urlSecrets, asset, asset.playback.folder)
    : undefined;

/** The playlist of the captions in one language. */
function findCaptionPlaylist({ captions, duration_ms }: PlaybackAsset, path: string): string | undefined {
  const named = path.endsWith('.m3u8') ? findNamedCaption(captions, path) : undefined;
  return named && formatCaptionPlaylist(named.caption, duration_ms);
}

type StoredFile = FileRequest & Pick<PlannedObject, 'key' | 'headers' | 'isCacheable'>;

/** By the store, by the web server in front, or by the service itself. */
function planStored(asset: PlaybackAsset, file: StoredFile, delivery: FileDelivery): PlannedResponse {
  const { path, method, key, isCacheable } = file;
  const downloadName = findDownloadName(file.query, path);
  const canDelegate = isSegment(path);
  // A signature is valid for one method.
  if (canDelegate && delivery.segments === 'redirect' && delivery.isStoreReachable && method === 'GET')
    return {
      kind: 'store-redirect',
      presign: toPresign(asset, file, delivery.now()),
      isEntry: !isCacheable,
      downloadName,
    };
  const internal = canDelegate
    ? findInternalRedirect(delivery, { ...file, isChecked: isCheckedPerRequest(asset, file.token) })
    : undefined;
  if (internal) return { kind: 'internal-redirect', headers: { ...file.headers, ...internal }, downloadName };
  return { ...toObject(key, file.headers, { isCacheable, isRepeatable: canDelegate }), downloadName };
}

/** How long a presigned URL stays usable after a revocation. */
const VALID_SECONDS = 600;

const toPresign = (asset: PlaybackAsset, { key, path }: StoredFile, now: Date) => ({
  key,
  responseContentType: contentTypeOf(path),
  responseCacheControl: limitMaxAge(`private, max-age=${VALID_SECONDS}, immutable`, asset, now),
  expiresInSeconds: Math.max(1, limitSeconds(VALID_SECONDS, asset, now)),
});

/** Manifests are not delegated, because players resolve relative names against the last URL. */
const isSegment = (path: string): boolean => /\.(?:mp4|m4s|m4a)$/.test(path);

const toObject = (
  key: ObjectKey,
  headers: FileHeaders,
  reuse: Pick<PlannedObject, 'isCacheable' | 'isRepeatable'>,
): PlannedObject => ({ kind: 'object', key, etag: lastTwoNames(key), headers, ...reuse });

const lastTwoNames = (key: ObjectKey): string =>
  key.slice(key.lastIndexOf('/', key.lastIndexOf('/') - 1) + 1);

const headersOf = (
  asset: PlaybackAsset,
  { path, token, isEntry }: Pick<FileRequest, 'path' | 'token'> & { readonly isEntry: boolean },
  delivery: FileDelivery,
): FileHeaders => ({
  'content-type': contentTypeOf(path),
  ...buildCacheHeaders(delivery, asset, { isEntry, isSegment: isSegment(path), token }),
});

/** nginx caches an authorization for 1 s, so a revocation takes effect within a second. */
const AUTHORIZED_SECONDS = 1;

/** Undefined for requests that did not come through the web server: their clients would see the path. */
function findInternalRedirect(
  { segments, storeFolder, accelPrefix, localFile }: FileDelivery,
  { key, isProxied, isChecked }: StoredFile & { readonly isChecked: boolean },
): FileHeaders | undefined {
  if (!segments.startsWith('x-') || !isProxied()) return undefined;
  const file = localFile(key);
  if (!file?.startsWith(`${storeFolder}/`)) return undefined;
  if (segments === 'x-sendfile') return { 'x-sendfile': file };
  return {
    'x-accel-redirect': `${accelPrefix}${file.slice(storeFolder.length + 1)}`,
    // The web server may not repeat it for other viewers.
    ...(!isChecked && { 'x-accel-expires': `${AUTHORIZED_SECONDS}` }),
  };
}

/** The `v` of a URL whose response never changes. */
const isVersioned = (query: unknown, version: string | undefined): boolean =>
  version !== undefined && (query as { readonly v?: unknown }).v === version;
