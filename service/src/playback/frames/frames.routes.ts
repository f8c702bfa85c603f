// Serves the frame at any time of a video (contract B5).
import {
  type FrameWithTokenQuery,
  getFrame,
  getPrivateFrame,
} from '@mediary/contract/operations/video-extras';
import type { Static } from 'typebox';
import { playbackNotFound } from '../../assets/playback-manifest.ts';
import { imageCaching } from '../../images/image-source.ts';
import { redirectToTokenPath } from '../../platform/http/headers.ts';
import { type BytesExchange, bytesRoute, type Route } from '../../platform/http/route.ts';
import type { ServingContext } from '../context.ts';
import { findFrameRedirect, toFrame, toFrameQuery } from './frame-query.ts';
import { findFrame } from './frames.ts';
import { findPlayableAsset } from '../playback.ts';

type Query = Static<typeof FrameWithTokenQuery>;

export const frameRoutes = (ctx: ServingContext): Route[] => [
  bytesRoute(getFrame, { handle: (request, reply) => serveFixedPath(ctx, { request, reply }) }),
  bytesRoute(getPrivateFrame, { handle: (request, reply) => serveFrame(ctx, { request, reply }) }),
];

async function serveFixedPath(
  ctx: ServingContext,
  { request, reply }: BytesExchange<Query, { readonly id: string }>,
): Promise<unknown> {
  const { token, t, w } = request.query;
  if (token === undefined) return serveFrame(ctx, { request, reply });
  await findPlayableAsset(ctx, request.params.id, { token, request, reply });
  return redirectToTokenPath(reply, token, `frame.jpg?t=${t}${w === undefined ? '' : `&w=${w}`}`);
}

async function serveFrame(
  ctx: ServingContext,
  { request, reply }: BytesExchange<Query, { readonly id: string; readonly token?: string }>,
): Promise<unknown> {
  const { id, token } = request.params;
  const asset = await findPlayableAsset(ctx, id, { token, request, reply });
  if (asset.playback?.kind !== 'own' || asset.playback.growing) throw playbackNotFound();
  const frame = toFrame(request.query, asset.duration_ms);
  const caching = imageCaching(asset, { token, now: ctx.now() });
  const other = findFrameRedirect(request.query, frame);
  if (other !== undefined) return reply.header('cache-control', caching).redirect(`frame.jpg?${other}`, 302);
  const found = await findFrame(ctx, asset, frame);
  // Later it may be rendered.
  if ('nearest' in found)
    return reply
      .header('cache-control', 'no-store')
      .redirect(`frame.jpg?${toFrameQuery(found.nearest)}`, 302);
  const known = { 'content-type': 'image/jpeg', 'cache-control': caching };
  const { status, headers, body } = await ctx.storage.sendObject(
    { request, reply },
    {
      key: found.key,
      etag: found.key.slice(found.key.indexOf('/') + 1),
      headers: known,
      missing: playbackNotFound,
    },
  );
  return reply.code(status).headers(headers).send(body);
}
