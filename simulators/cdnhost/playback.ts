// The delivery host of cdnhost: playlists, segments, images, MP4 and originals, with tokens if the library
// has a key.
import { join } from 'node:path';
import { type RouteResponse, type Call, ResponseError, type Route } from '../route.ts';
import { type Entry, entryOf, type Library, result } from './library.ts';
import { cdnToken } from './signatures.ts';

const CLAIMS = '(?:/bcdn_token=(?<claims>[^/]+))?';
const FILE = '(?<file>/(?<video>[0-9a-fA-F-]{36})/(?<name>(?:captions/)?[\\w.-]+))';
const PATH = new RegExp(`^${CLAIMS}${FILE}$`);
const HEIGHTS = /^play_(?<height>240|360|720|1080)p\.mp4$/;

export const playbackRoutes = (library: Library): Route[] => [
  {
    name: 'file',
    group: 'playback',
    method: 'GET',
    path: PATH,
    guard: (call) => (isOpen(library, call) ? undefined : result(403, 'Forbidden')),
    run: (call) => serve(library, call),
  },
];

function isOpen({ settings, context }: Library, { params, query }: Call): boolean {
  const key = settings.tokenAuthKey;
  if (key === undefined) return true;
  const parameters =
    params['claims'] === undefined ? query : new URLSearchParams(`token=${params['claims']}`);
  const [token, expires = '', directory] = ['token', 'expires', 'token_path'].map(
    (name) => parameters.get(name) ?? undefined,
  );
  const file = params['file'] ?? '';
  const isInside = directory === undefined || file.startsWith(directory);
  return (
    isInside &&
    Number(expires) * 1000 > context.clock.now() &&
    token === cdnToken({ key, path: directory ?? file, expires, parameters })
  );
}

function serve(library: Library, { params }: Call): RouteResponse {
  const entry = entryOf(library, params['video']);
  const name = params['name'] ?? '';
  const file = fileOf(entry, name);
  if (!file) throw new ResponseError({ status: 404 });
  const isPlaylist = name.endsWith('.m3u8');
  return {
    status: 200,
    headers: { 'Cache-Control': isPlaylist ? 'max-age=10' : 'max-age=2592000' },
    body: { file },
  };
}

function fileOf({ video, folder, original }: Entry, name: string): string | undefined {
  if (name === 'original') return video.hasOriginal ? original : undefined;
  if (name.startsWith('captions/')) return join(folder, name);
  const available = video.availableResolutions?.split(',') ?? [];
  if (available.length === 0) return undefined;
  const height = HEIGHTS.exec(name)?.groups?.['height'];
  if (height !== undefined)
    return video.hasMP4Fallback && available.includes(`${height}p`) ? join(folder, 'small.mp4') : undefined;
  return name === 'small.mp4' || name.endsWith('.mpd') ? undefined : join(folder, name);
}
