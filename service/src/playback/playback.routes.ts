// Serves playback URLs to owners, and manifests and segments to viewers (contract B5).
import {
  getPlayback as getPlaybackOperation,
  getSegment,
  publicEntryOperations,
} from '@mediary/contract/operations/playback/playback';
import { publicExtraOperations } from '@mediary/contract/operations/video-extras';
import type { PlaybackAsset } from '../assets/asset.ts';
import { playbackNotFound } from '../assets/playback-manifest.ts';
import { attachment, redirectToTokenPath, sendVersion } from '../platform/http/headers.ts';
import { versionOf } from '../platform/http/pages/page-script.ts';
import { type BytesExchange, bytesRoute, type Route } from '../platform/http/route.ts';
import { growingCaching, redirectCaching } from './cache-headers.ts';
import type { ServingContext } from './context.ts';
import { toDownloadSearch } from './downloads/download-name.ts';
import { planResponse } from './plan-response.ts';
import type { PlannedManifest, PlannedObject, PlannedResponse } from './planned-response.ts';
import { createPlaybackCookie, findPlayableAsset, getPlayback } from './playback.ts';

export const playbackRoutes = (ctx: ServingContext): Route[] => [
  ctx.guards.ownAsset(
    getPlaybackOperation,
    async ({ asset, query }) => getPlayback(ctx, asset, query.access),
    {
      setCookie: ({ asset, query }) =>
        query.access === 'cookie' ? createPlaybackCookie(ctx, asset) : undefined,
    },
  ),
  ...[...publicEntryOperations, ...publicExtraOperations].map((operation) =>
    bytesRoute(operation, {
      handle: (request, reply) => serveEntryFile(ctx, { request, reply }, basename(operation.path)),
    }),
  ),
  // One pattern for the files in manifests, with and without a token.
  bytesRoute(getSegment, {
    path: '/api/v1/playback/{id}/*',
    handle: (request, reply) => servePath(ctx, { request, reply }),
  }),
];

const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

type EntryExchange = BytesExchange<
  { readonly token?: string; readonly download?: string },
  { readonly id: string }
>;

async function serveEntryFile(ctx: ServingContext, exchange: EntryExchange, file: string): Promise<unknown> {
  const { id } = exchange.request.params;
  const { token, download } = exchange.request.query;
  if (token === undefined) return serve(ctx, exchange, { id, token, path: file });
  await findPlayableAsset(ctx, id, { token, ...exchange });
  return redirectToTokenPath(exchange.reply, token, `${file}${toDownloadSearch(download)}`);
}

type PathExchange = BytesExchange<unknown, { readonly id: string; readonly '*': string }>;

async function servePath(ctx: ServingContext, exchange: PathExchange): Promise<unknown> {
  const { id, '*': rest } = exchange.request.params;
  const [, token, path] = /^~([^/]*)\/(.*)$/.exec(rest) ?? [];
  return serve(ctx, exchange, { id, token, path: path ?? rest });
}

type RequestedPath = { readonly id: string; readonly token: string | undefined; readonly path: string };

async function serve(
  ctx: ServingContext,
  exchange: BytesExchange,
  { id, token, path }: RequestedPath,
): Promise<unknown> {
  const { request, reply } = exchange;
  const asset = await findPlayableAsset(ctx, id, { token, request, reply });
  const { method, query } = request;
  // The addresses of the client and of each trusted proxy.
  const isProxied = () => (request.ips ?? []).length > 1;
  const plan = planResponse(asset, { path, method, query, token, isProxied }, ctx.delivery);
  return send(ctx, exchange, { asset, token, plan });
}

type Sending<P extends PlannedResponse = PlannedResponse> = {
  readonly asset: PlaybackAsset;
  readonly token: string | undefined;
  readonly plan: P;
};

function send(ctx: ServingContext, exchange: BytesExchange, { plan, ...viewed }: Sending): unknown {
  const { reply } = exchange;
  switch (plan.kind) {
    case 'redirect':
      return reply.header('cache-control', 'no-store').redirect(toHeaderValue(plan.location), 302);
    case 'store-redirect':
      return redirectToStore(ctx, exchange, { ...viewed, plan });
    case 'internal-redirect':
      reply.headers(plan.headers).headers(toDisposition(plan.downloadName));
      ctx.segmentResponses.add({ ...toSent(exchange), ...viewed });
      return reply.send('');
    case 'segment-key':
      return reply.headers(KEY_HEADERS).send(plan.bytes);
    case 'text':
      return sendText(exchange, plan.text, plan.headers);
    case 'manifest':
      return sendManifest(ctx, exchange, { ...viewed, plan });
    case 'object':
      return sendObject(ctx, exchange, { ...viewed, plan });
  }
}

const toDisposition = (name: string | undefined): { 'content-disposition'?: string } =>
  name === undefined ? {} : { 'content-disposition': attachment(name) };

async function redirectToStore(
  { store, now }: ServingContext,
  { reply }: BytesExchange,
  { plan, ...viewed }: Sending<Extract<PlannedResponse, { kind: 'store-redirect' }>>,
): Promise<unknown> {
  const { presign, isEntry, downloadName } = plan;
  if (!store.direct) throw playbackNotFound();
  const { url, expiresAt } = await store.direct.presignGet({
    ...presign,
    ...(downloadName !== undefined && { responseContentDisposition: attachment(downloadName) }),
  });
  const caching = redirectCaching(viewed, { isEntry, expiresAt, now: now() });
  return reply.header('cache-control', caching).redirect(url, 302);
}

const toSent = ({ request: { raw, socket }, reply }: BytesExchange) => ({
  url: raw.url,
  address: socket.remoteAddress,
  status: reply.statusCode,
  headers: reply.getHeaders(),
});

const KEY_HEADERS = {
  'content-type': 'application/octet-stream',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

async function sendObject(
  ctx: ServingContext,
  exchange: BytesExchange,
  { asset, token, plan }: Sending<PlannedObject>,
): Promise<unknown> {
  const { reply } = exchange;
  const { key, etag, isCacheable, cipher } = plan;
  const known =
    plan.downloadName === undefined ? plan.headers : { ...plan.headers, ...toDisposition(plan.downloadName) };
  const object = { key, etag, headers: known, isCacheable, missing: playbackNotFound };
  const { status, headers, body } = await (cipher
    ? ctx.storage.sendEncryptedObject(exchange, { ...object, cipher })
    : ctx.storage.sendObject(exchange, object));
  reply.code(status).headers(headers);
  if (plan.isRepeatable) ctx.segmentResponses.add({ ...toSent(exchange), asset, token, key });
  return reply.send(body);
}

async function sendManifest(
  ctx: ServingContext,
  { request, reply }: BytesExchange,
  { plan, ...viewed }: Sending<PlannedManifest>,
): Promise<unknown> {
  const found = await ctx.manifests.find(viewed.asset.id, plan);
  if (!found) throw playbackNotFound();
  const { bytes, etag, isGrowing } = found;
  const caching = isGrowing && { 'cache-control': growingCaching(viewed) };
  const sent = ctx.storage.sendBytes({ request }, { bytes, etag, headers: { ...plan.headers, ...caching } });
  return reply.code(sent.status).headers(sent.headers).send(sent.body);
}

function sendText(
  { request, reply }: BytesExchange,
  text: string,
  headers: Readonly<Record<string, string>>,
): unknown {
  reply.headers(headers).header('x-content-type-options', 'nosniff');
  return sendVersion({ request, reply }, `"${versionOf(text)}"`, text);
}

/** Headers are ASCII: other characters of a reported URL are percent-encoded. */
const toHeaderValue = (url: string): string => (/^[!-~]*$/.test(url) ? url : new URL(url).href);
