// Serves playback URLs to owners, and manifests and segments to viewers (contract B5).
import { getPlayback, getSegment, publicEntryOperations } from '@mediary/contract/operations/playback';
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { PlayedAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { BoundOperations } from '../platform/bind.ts';
import { matchesEtag } from '../platform/http/headers.ts';
import { type BytesRequest, bytesRoute, type Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type * as growingOperations from '../encoding/jobs/growing-manifests.ts';
import type * as captionedOperations from './captioned-files.ts';
import type * as playbackOperations from './playback.ts';
import type * as redirectOperations from './segment-redirect.ts';
import { cacheControlFor, findServedFile, contentTypeOf } from './served-file.ts';

type Playback = BoundOperations<typeof playbackOperations> &
  BoundOperations<typeof redirectOperations> &
  Pick<BoundOperations<typeof growingOperations>, 'findManifest'> &
  BoundOperations<typeof captionedOperations>;

export const playbackRoutes = (
  playback: Playback,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset(getPlayback, async ({ asset }) => playback.getPlayback(asset)),
  ...publicEntryOperations.map((operation) =>
    bytesRoute(operation, {
      handle: (request, reply) =>
        serveFixed({ playback, objects }, { request, reply }, basename(operation.path)),
    }),
  ),
  // One pattern for the files in manifests, with and without a token.
  bytesRoute(getSegment, {
    path: '/api/v1/playback/{id}/*',
    handle: (request, reply) => serveBelow({ playback, objects }, { request, reply }),
  }),
];

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

type Needs = { readonly playback: Playback; readonly objects: ObjectResponses };
type Exchange<R> = { readonly request: R; readonly reply: FastifyReply };

type FixedRequest = BytesRequest<{ readonly token?: string }, { readonly id: string }>;

async function serveFixed(needs: Needs, exchange: Exchange<FixedRequest>, file: string): Promise<unknown> {
  const { id } = exchange.request.params;
  const { token } = exchange.request.query;
  if (token === undefined)
    return serve(needs, exchange, {
      asset: await needs.playback.findPlayableAsset(id, undefined),
      path: file,
    });
  await needs.playback.findPlayableAsset(id, token);
  return exchange.reply
    .header('cache-control', 'no-store')
    .redirect(`./~${encodeURIComponent(token)}/${file}`, 302);
}

type FileRequest = BytesRequest<unknown, { readonly id: string; readonly '*': string }>;

async function serveBelow(needs: Needs, exchange: Exchange<FileRequest>): Promise<unknown> {
  const { id, '*': rest } = exchange.request.params;
  const [, token, path] = /^~([^/]*)\/(.*)$/.exec(rest) ?? [];
  return serve(needs, exchange, {
    asset: await needs.playback.findPlayableAsset(id, token),
    path: path ?? rest,
  });
}

async function serve(
  { playback, objects }: Needs,
  { request, reply }: Exchange<BytesRequest>,
  { asset, path }: { asset: PlayedAsset; path: string },
): Promise<unknown> {
  const served = findServedFile(asset, path, () => playback.resolveHostedUrls(asset));
  if ('location' in served)
    return reply.header('cache-control', 'no-store').redirect(toHeaderValue(served.location), 302);
  const growing = served.growing && (await playback.findManifest({ assetId: asset.id, ...served.growing }));
  const { key } = served;
  const composed = asset.captions
    ? await playback.composeCaptionedFile(asset, { path, key, growing })
    : undefined;
  const text = composed ?? growing;
  if (text !== undefined)
    return sendComposed(text, { request, reply }, { asset, path, isGrowing: growing !== undefined });
  const redirect = await playback.redirectToStore({ key: served.key, path, method: request.method });
  if (redirect) return reply.headers(redirect.headers).redirect(redirect.url, 302);
  const etag = served.key.slice(served.key.lastIndexOf('/', served.key.lastIndexOf('/') - 1) + 1);
  const known = {
    'content-type': contentTypeOf(path),
    'cache-control': cacheControlFor(asset, served.isEntry && !isVersioned(request.query, served.version)),
  };
  const { status, headers, body } = await objects.sendObject(
    { request, reply },
    { key: served.key, etag, headers: known, missing: playbackNotFound },
  );
  return reply.code(status).headers(headers).send(body);
}

const GROWING_MAX_AGE_S = 1;

type ComposedFile = { readonly asset: PlayedAsset; readonly path: string; readonly isGrowing: boolean };

/** A manifest with captions, or a growing one, which players read again every few seconds. */
function sendComposed(
  text: string,
  { request, reply }: Exchange<BytesRequest>,
  { asset, path, isGrowing }: ComposedFile,
): unknown {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  reply.headers({
    'content-type': contentTypeOf(path),
    'cache-control': isGrowing
      ? `${asset.visibility}, max-age=${GROWING_MAX_AGE_S}`
      : cacheControlFor(asset, true),
    'x-content-type-options': 'nosniff',
    etag,
  });
  return matchesEtag(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(text);
}

const isVersioned = (query: unknown, version: string | undefined): boolean =>
  version !== undefined && (query as { readonly v?: unknown }).v === version;

/** Headers are ASCII: other characters of a reported URL are percent-encoded. */
const toHeaderValue = (url: string): string => (/^[!-~]*$/.test(url) ? url : new URL(url).href);
