// The delivery host of edgehost, by video id or signed token: manifests, segments, images and downloads.
import { join } from 'node:path';
import { type RouteResponse, type Call, ResponseError, type Route } from '../route.ts';
import { type Account, type Entry, entryOf } from './account.ts';
import { failure } from './envelope.ts';
import { openToken } from './signatures.ts';

const route = { group: 'playback', method: 'GET' } as const;

export const playbackRoutes = (account: Account): Route[] => [
  {
    ...route,
    name: 'manifest',
    path: /^\/(?<video>[\w.-]+)\/manifest\/(?<name>[\w-]+\.(?:m3u8|mpd|m4s))$/,
    run: (call) => serveStream(account, call),
  },
  {
    ...route,
    name: 'thumbnail',
    path: /^\/(?<video>[\w.-]+)\/thumbnails\/(?<name>thumbnail\.jpg)$/,
    run: (call) => serveStream(account, call),
  },
  {
    ...route,
    name: 'download',
    path: /^\/(?<video>[\w.-]+)\/downloads\/default\.mp4$/,
    run: (call) => serveDownload(account, call),
  },
];

function serveStream(account: Account, { params }: Call): RouteResponse {
  const { entry } = admitted(account, params['video']);
  if (!entry.video.readyToStream) throw new ResponseError({ status: 404 });
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store' },
    body: { file: join(entry.folder, params['name'] ?? '') },
  };
}

function serveDownload(account: Account, { params, query }: Call): RouteResponse {
  const { entry, downloadable } = admitted(account, params['video']);
  if (!downloadable) throw unauthorized();
  if (entry.download?.status !== 'ready') throw new ResponseError({ status: 404 });
  const name = encodeURIComponent((query.get('filename') ?? 'default').slice(0, 120));
  return {
    status: 200,
    headers: { 'Content-Disposition': `attachment; filename="${name}.mp4"` },
    body: { file: join(entry.folder, 'small.mp4') },
  };
}

/** A token permits its own video; a plain id permits videos that require no token. */
function admitted(account: Account, uidOrToken = ''): { entry: Entry; downloadable: boolean } {
  const bare = account.entries.get(uidOrToken);
  if (bare?.video.requireSignedURLs) throw unauthorized();
  if (bare) return { entry: bare, downloadable: true };
  const isToken = uidOrToken.split('.').length === 3;
  const claims = isToken
    ? openToken(uidOrToken, account.keys, account.context.clock.now() / 1000)
    : undefined;
  if (isToken && !claims) throw unauthorized();
  const entry = entryOf(account, claims?.sub);
  return { entry, downloadable: claims?.downloadable === true || !entry.video.requireSignedURLs };
}

const unauthorized = () => new ResponseError(failure(401, 10000, 'This video needs a signed token'));
