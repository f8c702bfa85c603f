// Serves the embed page of a video, its scripts, and oEmbed (contract B5).
import {
  getEmbed,
  getHlsScript,
  getOembed,
  getPlayerScript,
  getPrivateEmbed,
} from '@mediary/contract/operations/embed';
import type { Bound, BoundOperations } from '../platform/bind.ts';
import { redirectToTokenPath, sendVersion } from '../platform/http/headers.ts';
import { type BytesExchange, bytesRoute, type Route } from '../platform/http/route.ts';
import type { buildCacheHeaders } from './cache-headers.ts';
import type * as embedOperations from './embed.ts';
import type { findPlayableAsset } from './playback.ts';

type Embed = BoundOperations<typeof embedOperations> & {
  readonly findPlayableAsset: Bound<typeof findPlayableAsset>;
  readonly buildCacheHeaders: Bound<typeof buildCacheHeaders>;
};

export const embedRoutes = (embed: Embed): Route[] => [
  bytesRoute(getEmbed, { handle: (request, reply) => serveFixedPath(embed, { request, reply }) }),
  bytesRoute(getPrivateEmbed, { handle: (request, reply) => servePage(embed, { request, reply }) }),
  bytesRoute(getPlayerScript, {
    handle: (request, reply) => serveScript(embed, { request, reply }, 'player'),
  }),
  bytesRoute(getHlsScript, { handle: (request, reply) => serveScript(embed, { request, reply }, 'hls') }),
  bytesRoute(getOembed, {
    handle: async ({ query }, reply) => {
      const description = await embed.describeOembed(query);
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
  embed: Embed,
  { request, reply }: BytesExchange<{ readonly token?: string }, { readonly id: string }>,
): Promise<unknown> {
  const { token } = request.query;
  if (token === undefined) return servePage(embed, { request, reply });
  await embed.findPlayableAsset(request.params.id, { token, cookie: undefined });
  return redirectToTokenPath(reply, token, 'embed');
}

async function servePage(
  embed: Embed,
  { request, reply }: BytesExchange<unknown, { readonly id: string; readonly token?: string }>,
): Promise<unknown> {
  const { id, token } = request.params;
  const asset = await embed.findPlayableAsset(id, { token, cookie: request.headers.cookie });
  const { html, policy, etag } = await embed.renderEmbed(asset, token);
  reply.headers({
    ...embed.buildCacheHeaders(asset, { isEntry: true, isSegment: false, token }),
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy,
    ...(asset.visibility === 'private' && { 'x-robots-tag': 'noindex' }),
  });
  return sendVersion({ request, reply }, etag, html);
}

const YEAR_S = 31_536_000;
const UNVERSIONED_S = 300;

async function serveScript(
  embed: Embed,
  { request, reply }: BytesExchange<{ readonly v?: string }, unknown>,
  name: 'player' | 'hls',
): Promise<unknown> {
  const { bytes, version } = await embed.findScript(name);
  const isCurrent = request.query.v === version;
  reply.headers({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': isCurrent ? `public, max-age=${YEAR_S}, immutable` : `public, max-age=${UNVERSIONED_S}`,
  });
  return sendVersion({ request, reply }, `"${version}"`, bytes);
}
