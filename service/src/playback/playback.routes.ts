// Where players come: addresses for the owner, manifests and segments for whoever may see the asset (contract B5).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Asset } from '../assets/asset.ts';
import { nullable } from '../assets/asset-view.ts';
import type { PlayUrls } from '../assets/playback-manifest.ts';
import { playbackNotFound } from '../assets/playback-not-found.ts';
import type { Guards } from '../assets/asset-guards.hook.ts';
import type { RawRoute, Route } from '../platform/http/route.ts';
import type { ObjectResponses } from '../storage/object-response.ts';
import type { PlaybackView } from './playback.ts';
import { cacheControlFor, ENTRY_FILES, findServedFile, contentTypeOf } from './served-file.ts';

type Playback = {
  getPlayback(asset: Asset): PlaybackView;
  findHostedUrls(asset: Asset): PlayUrls | undefined;
  findPlayableAsset(id: string, token: string | undefined): Promise<Asset>;
};

const AddressesView = Type.Object({
  stream_status: Type.Enum(['pending_upload', 'processing', 'ready', 'failed']),
  hls: nullable(Type.String()),
  dash: nullable(Type.String()),
  thumbnail: nullable(Type.String()),
  mp4: Type.Null(),
  storyboard: Type.Null(),
  expires_at: nullable(Type.String({ format: 'date-time' })),
  image: Type.Optional(
    Type.String({
      description:
        'Of an image, or the poster of a video encoded by this service; takes w, h, fit and format as further parameters',
    }),
  ),
});

export const playbackRoutes = (
  playback: Playback,
  { ownAsset }: Guards,
  objects: ObjectResponses,
): Route[] => [
  ownAsset({
    method: 'GET',
    url: '/media/:id/playback',
    message: 'Playback',
    summary: 'URLs that a player can use as they are',
    answer: AddressesView,
    errors: [403, 404],
    handle: async ({ asset }) => playback.getPlayback(asset),
  }),
  ...ENTRY_FILES.map(
    (file): RawRoute => ({
      kind: 'raw',
      method: 'GET',
      url: `/playback/:id/${file}`,
      body: 'none',
      query: Type.Object({ token: Type.Optional(Type.String()) }),
      answers: ANSWERS,
      summary: `The ${file} of an asset that everybody may see; with ?token= a redirect to the path that carries the token`,
      handle: (request, reply) => serveFixed({ playback, objects }, { request, reply }, file),
    }),
  ),
  {
    kind: 'raw',
    method: 'GET',
    url: '/playback/:id/*',
    rateClass: 'none',
    body: 'none',
    answers: ANSWERS,
    summary: 'Files that manifests name, below `~<token>/` where the asset is private',
    handle: (request, reply) => serveBelow({ playback, objects }, { request, reply }),
  },
];

const ANSWERS = {
  200: 'The bytes',
  206: 'A part of them',
  302: 'Somebody else has the file, at Location',
  304: 'Not changed',
  401: 'The token is wrong or has expired',
  404: 'Private and no token, deleted, unknown, or nothing to play yet',
  416: 'The range lies outside',
};

type Needs = { readonly playback: Playback; readonly objects: ObjectResponses };
type Exchange = { readonly request: FastifyRequest; readonly reply: FastifyReply };

async function serveFixed(needs: Needs, exchange: Exchange, file: string): Promise<unknown> {
  const { id } = exchange.request.params as { id: string };
  const { token } = exchange.request.query as { token?: string };
  if (token === undefined)
    return serve(needs, exchange, {
      asset: await needs.playback.findPlayableAsset(id, undefined),
      path: file,
    });
  await needs.playback.findPlayableAsset(id, token);
  return exchange.reply
    .header('cache-control', 'no-store')
    .redirect(`/api/v1/playback/${id}/~${encodeURIComponent(token)}/${file}`, 302);
}

async function serveBelow(needs: Needs, exchange: Exchange): Promise<unknown> {
  const { id, '*': rest } = exchange.request.params as { id: string; '*': string };
  const [, token, path] = /^~([^/]*)\/(.*)$/.exec(rest) ?? [];
  return serve(needs, exchange, {
    asset: await needs.playback.findPlayableAsset(id, token),
    path: path ?? rest,
  });
}

async function serve(
  { playback, objects }: Needs,
  { request, reply }: Exchange,
  { asset, path }: { asset: Asset; path: string },
): Promise<unknown> {
  const served = findServedFile(asset, path, () => playback.findHostedUrls(asset));
  if ('location' in served)
    return reply.header('cache-control', 'no-store').redirect(inHeader(served.location), 302);
  const etag = served.key.slice(served.key.lastIndexOf('/', served.key.lastIndexOf('/') - 1) + 1);
  const known = {
    'content-type': contentTypeOf(path),
    'cache-control': cacheControlFor(asset, served.isEntry),
  };
  const { status, headers, body } = await objects.sendObject(
    { request, reply },
    { key: served.key, etag, headers: known, missing: playbackNotFound },
  );
  return reply.code(status).headers(headers).send(body);
}

/** A header takes ASCII alone: a stranger's URL with other characters goes there as a URL parser writes it. */
const inHeader = (url: string): string => (/^[!-~]*$/.test(url) ? url : new URL(url).href);
