// Serves the embed page of a video, its scripts, and oEmbed (contract B5).
import {
  getElementFile,
  getEmbed,
  getHlsScript,
  getOembed,
  getPlayerScript,
  getPrivateEmbed,
} from '@mediary/contract/operations/playback/embed';
import { notFound } from '../../platform/http/errors.ts';
import { redirectToTokenPath, sendVersion } from '../../platform/http/headers.ts';
import { getElementFiles } from '../../platform/http/pages/element-files.ts';
import { sendPrepared } from '../../platform/http/pages/prepared-content.ts';
import { type BytesExchange, bytesRoute, type Route } from '../../platform/http/route.ts';
import { buildCacheHeaders } from '../cache-headers.ts';
import type { ServingContext } from '../context.ts';
import { describeOembed, findScript, renderEmbed } from './embed.ts';
import { findPlayableAsset } from '../playback.ts';

export const embedRoutes = (ctx: ServingContext): Route[] => [
  bytesRoute(getEmbed, { handle: (request, reply) => serveFixedPath(ctx, { request, reply }) }),
  bytesRoute(getPrivateEmbed, { handle: (request, reply) => servePage(ctx, { request, reply }) }),
  bytesRoute(getPlayerScript, {
    handle: (request, reply) => serveScript({ request, reply }, 'player'),
  }),
  bytesRoute(getHlsScript, { handle: (request, reply) => serveScript({ request, reply }, 'hls') }),
  bytesRoute(getElementFile, { handle: (request, reply) => serveElementFile({ request, reply }) }),
  bytesRoute(getOembed, {
    handle: async ({ query }, reply) => {
      const description = await describeOembed(ctx, query);
      return reply
        .headers({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': `public, max-age=${description.cache_age}`,
        })
        .send(JSON.stringify(description));
    },
  }),
];

async function serveFixedPath(
  ctx: ServingContext,
  { request, reply }: BytesExchange<{ readonly token?: string }, { readonly id: string }>,
): Promise<unknown> {
  const { token } = request.query;
  if (token === undefined) return servePage(ctx, { request, reply });
  await findPlayableAsset(ctx, request.params.id, { token, request, reply });
  return redirectToTokenPath(reply, token, 'embed');
}

async function servePage(
  ctx: ServingContext,
  { request, reply }: BytesExchange<unknown, { readonly id: string; readonly token?: string }>,
): Promise<unknown> {
  const { id, token } = request.params;
  const asset = await findPlayableAsset(ctx, id, { token, request, reply });
  const { html, policy, etag } = await renderEmbed(ctx, asset, token);
  reply.headers({
    ...buildCacheHeaders(ctx.delivery, asset, { isEntry: true, isSegment: false, token }),
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    ...(asset.visibility === 'private' && { 'x-robots-tag': 'noindex' }),
  });
  return sendVersion({ request, reply }, etag, html);
}

const YEAR_S = 31_536_000;
const UNVERSIONED_S = 300;

async function serveScript(
  { request, reply }: BytesExchange<{ readonly v?: string }, unknown>,
  name: 'player' | 'hls',
): Promise<unknown> {
  const { bytes, version } = await findScript(name);
  reply.headers({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': toCacheControl(request.query.v === version),
  });
  return sendVersion({ request, reply }, `"${version}"`, bytes);
}

const toCacheControl = (isCurrent: boolean): string =>
  isCurrent ? `public, max-age=${YEAR_S}, immutable` : `public, max-age=${UNVERSIONED_S}`;

async function serveElementFile({
  request,
  reply,
}: BytesExchange<unknown, { readonly version: string; readonly file: string }>): Promise<unknown> {
  const { version, files } = await getElementFiles();
  const file = files.get(request.params.file);
  if (!file) throw notFound('Not found. Build the web components: npm run build -w @mediary/elements');
  reply.header('cache-control', toCacheControl(request.params.version === version));
  return sendPrepared({ request, reply }, file);
}
