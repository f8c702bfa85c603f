// Serves sized variants of images in a format that the viewer accepts (contract B5).
import { IMAGE_EDIT_PARAMETERS } from '@mediary/contract/image-edits';
import {
  getImage,
  getImageSigningKey,
  getPrivateImage,
  type VariantWithTokenQuery,
} from '@mediary/contract/operations/images';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import type { Secret } from '../auth/secret.ts';
import { inline, redirectToTokenPath } from '../platform/http/headers.ts';
import { type BytesExchange, bytesRoute, type Route } from '../platform/http/route.ts';
import type { VariantsContext } from './context.ts';
import { allowRequest, imageSigningKey } from './variants/image-request.ts';
import { imageCaching } from './image-source.ts';
import { getVariant } from './images.ts';

type Query = VariantWithTokenQuery;

export const imageRoutes = (ctx: VariantsContext): Route[] => [
  bytesRoute(getImage, { handle: (request, reply) => serveFixedPath(ctx, { request, reply }) }),
  bytesRoute(getPrivateImage, { handle: (request, reply) => serveImage(ctx, { request, reply }) }),
  ctx.asService(getImageSigningKey, async () => ({
    key: imageSigningKey(ctx.urlSecrets[0] as Secret).reveal(),
    algorithm: 'HMAC-SHA256' as const,
  })),
];

async function serveFixedPath(
  ctx: VariantsContext,
  { request, reply }: BytesExchange<Query, { readonly id: string }>,
): Promise<unknown> {
  const { token } = request.query;
  if (token === undefined) return serveImage(ctx, { request, reply });
  await ctx.playback.findPlayableAsset(request.params.id, { token, request, reply });
  return redirectToTokenPath(reply, token, `image?${toSearch(searchOf(request.url))}`);
}

async function serveImage(
  ctx: VariantsContext,
  { request, reply }: BytesExchange<Query, { readonly id: string; readonly token?: string }>,
): Promise<unknown> {
  const { id, token } = request.params;
  const { v: version, ...asked } = request.query;
  const asset = await ctx.playback.findPlayableAsset(id, { token, request, reply });
  const cachingOf = (isSubstitute: boolean) =>
    imageCaching(asset, { token, version, isSubstitute, now: ctx.now() });
  const search = searchOf(request.url);
  const allowed = allowRequest(ctx, { assetId: id, query: asked, search });
  if ('redirectTo' in allowed) {
    for (const [side, length] of Object.entries(allowed.redirectTo)) search.set(side, String(length));
    reply.header('cache-control', cachingOf(false));
    return reply.redirect(`image?${toSearch(search)}`, 302);
  }
  const { query } = allowed;
  const { key, type, name, substituteFor } = await getVariant(ctx, asset, {
    query,
    accept: request.headers.accept,
  });
  const known = {
    'content-type': type,
    'content-disposition': inline(name),
    'cache-control': cachingOf(substituteFor !== undefined),
    ...((query.format === undefined || substituteFor) && { vary: 'Accept' }),
    ...(substituteFor && { 'x-image-substitute': substituteFor }),
  };
  const etag = key.slice(key.indexOf('/') + 1);
  const { status, headers, body } = await ctx.storage.sendObject(
    { request, reply },
    { key, etag, headers: known, missing: playbackNotFound },
  );
  return reply.code(status).headers(headers).send(body);
}

/** The text after the first `?` or `#`, as for the router: a signature covers all that is rendered. */
const searchOf = (url: string): URLSearchParams =>
  // The added `?` is the one that URLSearchParams drops.
  new URLSearchParams(`?${/[?#](.*)/s.exec(url)?.[1] ?? ''}`);

const NAMES = [...Object.keys(IMAGE_EDIT_PARAMETERS), 'dpr', 'preset', 's', 'v'];

/** Known parameters in one order, so that caches keep one entry. */
const toSearch = (search: URLSearchParams): string =>
  new URLSearchParams(
    NAMES.flatMap((name): [string, string][] => {
      const value = search.get(name);
      return value === null ? [] : [[name, value]];
    }),
  ).toString();
