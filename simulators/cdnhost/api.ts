// The cdnhost API for servers: one key, one library, JSON.
import { type Call, header, json, readJson, type Route } from '../route.ts';
import { createCollection, deleteCaptions, listCollections, putCaptions } from './captions.ts';
import {
  addVideo,
  assertNoUpload,
  encode,
  entryOf,
  type Library,
  removeVideo,
  result,
  takeOriginal,
} from './library.ts';
import { type CdnhostVideo, editsIn, newVideo } from './video.ts';

const VIDEOS = '/library/(?<library>\\d+)/videos';
const VIDEO = `${VIDEOS}/(?<video>[0-9a-fA-F-]{36})`;
const CAPTIONS = `${VIDEO}/captions/(?<language>[\\w-]+)`;
const COLLECTIONS = '/library/(?<library>\\d+)/collections';

/** Calls of the vendor's SDK that the simulator does not make up, and what Mediary has in their place. */
const NOT_SIMULATED: readonly (readonly [name: string, method: string, path: string, instead: string])[] = [
  ['fetch', 'POST', `${VIDEOS}/fetch`, 'POST /api/v1/media/import downloads a file from a URL.'],
  ['thumbnail', 'POST', `${VIDEO}/thumbnail`, 'PATCH /api/v1/media/{id} sets poster_time_ms.'],
  [
    'transcribe',
    'POST',
    `${VIDEO}/transcribe`,
    'PUT /api/v1/media/{id}/captions/{language} stores captions.',
  ],
  ['heatmap', 'GET', `${VIDEO}/heatmap`, 'It has no statistics.'],
  ['statistics', 'GET', '/library/(?<library>\\d+)/statistics', 'It has no statistics.'],
];

type Handler = (library: Library, call: Call) => ReturnType<Route['run']>;
const HANDLERS: readonly (readonly [name: string, method: string, path: string, handler: Handler])[] = [
  ['create', 'POST', VIDEOS, create],
  ['list', 'GET', VIDEOS, list],
  ['get', 'GET', VIDEO, (library, call) => json(200, entryOf(library, call.params['video']).video)],
  ['put', 'PUT', VIDEO, put],
  ['update', 'POST', VIDEO, update],
  ['delete', 'DELETE', VIDEO, remove],
  ['reencode', 'POST', `${VIDEO}/reencode`, reencode],
  ['play', 'GET', `${VIDEO}/play`, playData],
  ['captions-put', 'POST', CAPTIONS, putCaptions],
  ['captions-delete', 'DELETE', CAPTIONS, deleteCaptions],
  ['collections-list', 'GET', COLLECTIONS, listCollections],
  ['collections-create', 'POST', COLLECTIONS, createCollection],
];

export function apiRoutes(library: Library): Route[] {
  const guard = (call: Call) =>
    isAllowed(library, call) ? undefined : result(401, 'Authentication has been denied for this request.');
  const refusals = NOT_SIMULATED.map(
    ([name, method, path, instead]) =>
      [
        name,
        method,
        path,
        () => result(501, `The simulator does not implement this call. ${instead}`),
      ] as const,
  );
  return [...HANDLERS, ...refusals].map(([name, method, path, handler]) => ({
    name,
    group: 'api',
    method,
    path: new RegExp(`^${path}$`),
    guard,
    run: (call) => handler(library, call),
  }));
}

/** The read-only key permits only reads. */
function isAllowed({ settings }: Library, call: Call): boolean {
  const keys = call.method === 'GET' ? [settings.apiKey, settings.readOnlyApiKey] : [settings.apiKey];
  return (
    call.params['library'] === String(settings.libraryId) && keys.includes(header(call, 'AccessKey') ?? '')
  );
}

async function create(library: Library, call: Call) {
  const body = await readJson(call);
  if (typeof body['title'] !== 'string' || body['title'] === '') return result(400, 'The title is required');
  const video = newVideo(library.settings.libraryId, library.context.clock.now(), body);
  addVideo(library, video);
  return json(200, video);
}

function list({ entries }: Library, { query }: Call) {
  const currentPage = Math.max(1, Number(query.get('page')) || 1);
  const itemsPerPage = Math.max(1, Number(query.get('itemsPerPage')) || 100);
  const search = (query.get('search') ?? '').toLowerCase();
  const collection = query.get('collection') ?? '';
  const isWanted = ({ title, collectionId }: CdnhostVideo) =>
    title.toLowerCase().includes(search) && (!collection || collectionId === collection);
  const found = [...entries.values()]
    .map(({ video }) => video)
    .filter(isWanted)
    .reverse();
  const sorted =
    query.get('orderBy') === 'title' ? found.sort((one, other) => (one.title < other.title ? -1 : 1)) : found;
  const items = sorted.slice((currentPage - 1) * itemsPerPage, currentPage * itemsPerPage);
  return json(200, { totalItems: found.length, currentPage, itemsPerPage, items });
}

async function put(library: Library, call: Call) {
  const entry = entryOf(library, call.params['video']);
  assertNoUpload(entry);
  await takeOriginal(library, entry, call.body);
  return result(200, 'OK');
}

async function update(library: Library, call: Call) {
  const entry = entryOf(library, call.params['video']);
  entry.video = { ...entry.video, ...editsIn(await readJson(call)) };
  return result(200, 'OK');
}

async function remove(library: Library, call: Call) {
  await removeVideo(library, entryOf(library, call.params['video']));
  return result(200, 'OK');
}

function reencode(library: Library, call: Call) {
  const entry = entryOf(library, call.params['video']);
  if (!entry.video.hasOriginal) return result(400, 'The original is not stored');
  entry.video = { ...entry.video, status: 1, availableResolutions: null, encodeProgress: 0 };
  encode(library, entry);
  return json(200, entry.video);
}

function playData(library: Library, call: Call) {
  const { video } = entryOf(library, call.params['video']);
  const base = `${call.origin}/${video.guid}`;
  return json(200, {
    video: video,
    videoPlaylistUrl: `${base}/playlist.m3u8`,
    thumbnailUrl: `${base}/${video.thumbnailFileName}`,
    fallbackUrl: `${base}/play_240p.mp4`,
    originalUrl: video.hasOriginal ? `${base}/original` : null,
    previewUrl: `${base}/preview.webp`,
    captionsPath: `${base}/captions/`,
    seekPath: `${base}/seek/`,
  });
}
