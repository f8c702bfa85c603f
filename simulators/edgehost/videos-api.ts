// The edgehost API of videos: get, edit, delete, list and downloads.
import { type Call, readJson } from '../route.ts';
import { type Account, editVideo, entryOf, removeVideo } from './account.ts';
import { badRequest, notSimulated, success } from './envelope.ts';
import { type ApiRoute, VIDEO } from './guard.ts';
import type { EdgehostVideo } from './video.ts';

type UnsimulatedCall = {
  readonly name: string;
  readonly methods: readonly string[];
  readonly path: string;
  /** What Mediary has in its place. */
  readonly instead: string;
};

export const VIDEO_ROUTES: readonly ApiRoute[] = [
  ['list', 'GET', '/?', list],
  ['get', 'GET', VIDEO, (account, { params }) => success(entryOf(account, params['uid']).video)],
  ['edit', 'POST', VIDEO, edit],
  ['delete', 'DELETE', VIDEO, remove],
  ['downloads-create', 'POST', `${VIDEO}/downloads(/default)?`, createDownload],
  [
    'downloads-get',
    'GET',
    `${VIDEO}/downloads`,
    (account, { params }) => success(downloadsOf(account, params['uid'])),
  ],
  ['downloads-delete', 'DELETE', `${VIDEO}/downloads(/default)?`, deleteDownload],
  ...refuse({
    name: 'copy',
    methods: ['POST'],
    path: '/copy',
    instead: 'POST /api/v1/media/import downloads a file from a URL.',
  }),
  ...refuse({
    name: 'clip',
    methods: ['POST'],
    path: '/clip',
    instead: 'POST /api/v1/media/{id}/clip cuts a video.',
  }),
  ...refuse({
    name: 'captions',
    methods: ['POST'],
    path: `${VIDEO}/captions(/.*)?`,
    instead: 'PUT /api/v1/media/{id}/captions/{language} stores captions.',
  }),
  ...refuse({
    name: 'audio',
    methods: ['GET', 'POST'],
    path: `${VIDEO}/audio(/.*)?`,
    instead: 'All audio tracks of a file are encoded.',
  }),
  ...refuse({
    name: 'embed',
    methods: ['GET'],
    path: `${VIDEO}/embed`,
    instead: 'GET /api/v1/media/{id}/playback names an embed page.',
  }),
  ...refuse({
    name: 'watermarks',
    methods: ['GET', 'POST'],
    path: '/watermarks(/.*)?',
    instead: 'It has no watermarks.',
  }),
  ...refuse({
    name: 'live',
    methods: ['GET', 'POST'],
    path: '/live_inputs(/.*)?',
    instead: 'It has no live inputs.',
  }),
];

const MOST_LISTED = 1000;

function list({ entries }: Account, { query }: Call) {
  const limit = Math.min(Number(query.get('limit')) || MOST_LISTED, MOST_LISTED);
  const found = [...entries.values()].map(({ video }) => video).filter((video) => isWanted(video, query));
  const sorted = query.get('asc') === 'true' ? found : found.reverse();
  const counts =
    query.get('include_counts') === 'true'
      ? { total: String(found.length), range: String(Math.min(limit, found.length)) }
      : {};
  return success(sorted.slice(0, limit), counts);
}

function isWanted({ status, creator, created, meta }: EdgehostVideo, query: URLSearchParams): boolean {
  const wanted = (name: string) => query.get(name) ?? undefined;
  const after = wanted('after') ?? wanted('start');
  const before = wanted('before') ?? wanted('end');
  const search = wanted('search')?.toLowerCase() ?? '';
  return (
    is(wanted('status'), status.state) &&
    is(wanted('creator'), creator) &&
    (after === undefined || Date.parse(created) >= Date.parse(after)) &&
    (before === undefined || Date.parse(created) < Date.parse(before)) &&
    String(meta['name'] ?? '')
      .toLowerCase()
      .includes(search)
  );
}

const is = (wanted: string | undefined, found: string | null) => wanted === undefined || wanted === found;

async function edit(account: Account, call: Call) {
  const entry = entryOf(account, call.params['uid']);
  editVideo(account, entry, await readJson(call));
  return success(entry.video);
}

/** Has no envelope, because the vendor's own library expects no body here. */
async function remove(account: Account, { params }: Call) {
  await removeVideo(account, entryOf(account, params['uid']));
  return { status: 200 };
}

function downloadsOf(account: Account, uid = '') {
  const { download } = entryOf(account, uid);
  return download ? { default: download } : {};
}

function createDownload(account: Account, { params, origin }: Call) {
  const entry = entryOf(account, params['uid']);
  if (!entry.video.readyToStream) throw badRequest('the video is not ready');
  const download = entry.download ?? {
    status: 'inprogress',
    url: `${origin}/${entry.video.uid}/downloads/default.mp4`,
    percentComplete: 0,
  };
  entry.download = download;
  account.context.clock.after(
    account.context.stepMs,
    async () => void Object.assign(download, { status: 'ready', percentComplete: 100 }),
  );
  return success({ default: download });
}

function deleteDownload(account: Account, { params }: Call) {
  delete entryOf(account, params['uid']).download;
  return success('');
}

/** Calls of the vendor's SDK that the simulator does not implement. A function: the list precedes it. */
function refuse({ name, methods, path, instead }: UnsimulatedCall): ApiRoute[] {
  return methods.map((method) => [
    `${name}-${method.toLowerCase()}`,
    method,
    path,
    () => notSimulated(instead),
  ]);
}
