// Serves sized variants of images in a format that the viewer accepts (contract B5).
import { getImage, getPrivateImage, type VariantWithTokenQuery } from '@mediary/contract/operations/images';
import { IMAGE_CROPS } from '@mediary/contract/enums';
import { roundSize } from '@mediary/media-rules/image-size';
import type { Static } from 'typebox';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { badRequest } from '../platform/http/errors.ts';
import { inline, redirectToTokenPath } from '../platform/http/headers.ts';
import { type BytesExchange, bytesRoute, type Route } from '../platform/http/route.ts';
import type { VariantsContext } from './context.ts';
import { imageCaching } from './image-source.ts';
import { getVariant } from './images.ts';

type Query = Static<typeof VariantWithTokenQuery>;

export const imageRoutes = (ctx: VariantsContext): Route[] => [
  bytesRoute(getImage, { handle: (request, reply) => serveFixedPath(ctx, { request, reply }) }),
  bytesRoute(getPrivateImage, { handle: (request, reply) => serveImage(ctx, { request, reply }) }),
];

async function serveFixedPath(
  ctx: VariantsContext,
  { request, reply }: BytesExchange<Query, { readonly id: string }>,
): Promise<unknown> {
  const { token, ...query } = request.query;
  if (token === undefined) return serveImage(ctx, { request, reply });
  await ctx.playback.findPlayableAsset(request.params.id, { token, cookie: undefined });
  return redirectToTokenPath(reply, token, `image?${toSearch(query)}`);
}

async function serveImage(
  ctx: VariantsContext,
  { request, reply }: BytesExchange<Query, { readonly id: string; readonly token?: string }>,
): Promise<unknown> {
  const { id, token } = request.params;
  const { v: version, ...query } = request.query;
  const asset = await ctx.playback.findPlayableAsset(id, { token, cookie: request.headers.cookie });
  const cachingOf = (isSubstitute: boolean) =>
    imageCaching(asset, { token, version, isSubstitute, now: ctx.now() });
  const rounded = toOfferedSize(query);
  if (rounded) {
    reply.header('cache-control', cachingOf(false));
    return reply.redirect(`image?${toSearch({ ...request.query, ...rounded })}`, 302);
  }
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

/** The size to redirect to; undefined if the requested one is offered. Throws BAD_REQUEST if none fits. */
function toOfferedSize(query: Query): { w?: number; h?: number } | undefined {
  const size = roundSize(query);
  if ('reason' in size) {
    const { field, allowed } = size;
    const value = `w=${query.w ?? ''} h=${query.h ?? ''} fit=${query.fit ?? 'inside'}`;
    throw badRequest(
      allowed === IMAGE_CROPS
        ? `The crop ${value} is not offered. Use w = h, or ${IMAGE_CROPS[1]}, or fit=inside.`
        : `${field} ${query[field]} is not offered. Use one of ${allowed.join(', ')}.`,
      { ...size },
    );
  }
  return size.w === query.w && size.h === query.h ? undefined : size;
}

/** Known parameters in one order, so that caches keep one entry. */
const toSearch = ({ w, h, fit, format, v }: Query): string =>
  new URLSearchParams(
    Object.entries({ w, h, fit, format, v }).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  ).toString();
