// Calls edgehost's own interface: one account, opened by a token.
import type { Secret } from '../../auth/secret.ts';
import { isPlaybackUrl } from '../../assets/playback-manifest.ts';
import type { ClientLimits } from '../../platform/http-client.ts';
import {
  listIn,
  type Members,
  membersIn,
  segmentOf,
  timeIn,
  unlessMissing,
  unreadable,
  videoIdIn,
} from '../answer-parts.ts';
import { askProduct, type Question, type Reply } from '../hosted-answer.ts';
import { wordsOf } from '../hosted-trial.ts';
import { membersOf } from '../opening.ts';
import type { HostedApi, ListedVideo, PreparedUpload, UploadWish } from '../provider.ts';
import { type SigningKey, videoToken } from './edgehost-token.ts';
import {
  CREATOR,
  downloadName,
  expiryOf,
  formBody,
  isForm,
  maxBytesOf,
  tusHeaders,
} from './edgehost-upload.ts';
import { inspectionOf } from './edgehost-video.ts';

export type EdgehostAccess = {
  readonly apiUrl: string;
  readonly accountId: string;
  readonly apiToken: Secret;
  readonly customerHost: string | undefined;
  readonly signingKey: SigningKey | undefined;
  /** What else an operator should know, in words. */
  readonly gaps: readonly string[];
  readonly limits: ClientLimits | undefined;
  /** Seconds since 1970. */
  readonly now: () => number;
};

type Ask = (question: Question) => Promise<Reply>;

export function openEdgehostApi(access: EdgehostAccess): HostedApi {
  const { apiUrl, accountId, apiToken, customerHost, signingKey, gaps, limits } = access;
  const url = `${apiUrl}/accounts/${encodeURIComponent(accountId)}/stream`;
  const ask = askProduct({ url, headers: { Authorization: `Bearer ${apiToken.reveal()}` }, codeOf, limits });
  const find = (videoId: string, path = '') =>
    unlessMissing(async () => resultOf(await ask({ method: 'GET', path: `${pathTo(videoId)}${path}` })));
  return {
    url: apiUrl,
    prepareUpload: (wish) => (isForm(wish) ? openForm : openTus)({ ...access, ask, url }, wish),
    async inspect(videoId) {
      const video = await find(videoId);
      return video
        ? inspectionOf(video, { source: 'inspect', uid: videoId, customerHost })
        : { state: 'missing' };
    },
    async remove(videoId) {
      await unlessMissing(() => ask({ method: 'DELETE', path: pathTo(videoId) }));
    },
    restart: undefined,
    protect:
      signingKey &&
      (async (videoId, isPrivate) =>
        void (await ask({ method: 'POST', path: pathTo(videoId), json: { requireSignedURLs: isPrivate } }))),
    registerWebhook: (notificationUrl) => registerWebhook(ask, notificationUrl),
    async download(wish) {
      return downloadUrl(
        access,
        wish,
        membersOf((await find(wish.videoId, '/downloads'))?.['default']) ?? {},
      );
    },
    list: () => listed(ask, customerHost),
    check: async () => [
      ...(await wordsOf(ask({ method: 'GET', path: '?limit=1' }).then(videosIn), tried(apiUrl))),
      ...gaps,
    ],
  };
}

const tried = (url: string) => ({ url, key: 'EDGEHOST_STREAM_API_TOKEN', place: 'EDGEHOST_ACCOUNT_ID' });

const pathTo = (videoId: string): string => `/${segmentOf(videoId)}`;

const resultOf = ({ body }: Reply): Members => membersIn(membersIn(body)['result'], 'result');
const videosIn = ({ body }: Reply): readonly Members[] => listIn(membersIn(body)['result'], 'list');

type Opening = EdgehostAccess & { readonly ask: Ask; readonly url: string };

/** An address works once, so that each try makes a video of its own. */
async function openForm({ ask, ...access }: Opening, wish: UploadWish): Promise<PreparedUpload> {
  const wanted = wantedOf(access, wish);
  const { uid, uploadURL: url } = resultOf(
    await ask({ method: 'POST', path: '/direct_upload', json: formBody(wanted) }),
  );
  if (typeof url !== 'string' || !isPlaybackUrl(url)) throw unreadable('upload address');
  return {
    videoId: videoIdIn(uid),
    target: {
      protocol: 'form',
      method: 'POST',
      url,
      headers: {},
      fields: {},
      expires_at: wanted.expiry,
      max_bytes: maxBytesOf(wish),
    },
  };
}

async function openTus({ ask, url: base, ...access }: Opening, wish: UploadWish): Promise<PreparedUpload> {
  const wanted = wantedOf(access, wish);
  const { headers } = await ask({ method: 'POST', path: '?direct_user=true', headers: tusHeaders(wanted) });
  const url = URL.parse(headers.get('location') ?? 'none:', base)?.href ?? '';
  if (!isPlaybackUrl(url)) throw unreadable('upload address');
  return {
    videoId: videoIdIn(headers.get('stream-media-id')),
    target: {
      protocol: 'tus',
      method: 'PATCH',
      url,
      headers: {},
      expires_at: wanted.expiry,
      max_bytes: maxBytesOf(wish),
    },
  };
}

const wantedOf = ({ signingKey, now }: Pick<EdgehostAccess, 'signingKey' | 'now'>, wish: UploadWish) => ({
  ...wish,
  expiry: expiryOf(wish, now()),
  requireSignedUrls: wish.isPrivate && signingKey !== undefined,
});

async function registerWebhook(ask: Ask, notificationUrl: string) {
  const { secret } = resultOf(await ask({ method: 'PUT', path: '/webhook', json: { notificationUrl } }));
  if (typeof secret !== 'string' || secret === '') throw unreadable('secret');
  return { secret, setting: 'EDGEHOST_STREAM_WEBHOOK_SECRET' };
}

type DownloadWish = Parameters<HostedApi['download']>[0];

/** A token opens a video that needs none, too. */
function downloadUrl(
  { signingKey, now }: EdgehostAccess,
  { videoId, filename, expires }: DownloadWish,
  { status, url }: Members,
): string | undefined {
  if (status !== 'ready' || typeof url !== 'string' || !isPlaybackUrl(url)) return undefined;
  const signed = signingKey
    ? url.replace(
        `/${videoId}/`,
        () => `/${videoToken(signingKey, { videoId, expires, now: now(), downloadable: true })}/`,
      )
    : url;
  const name = downloadName(filename);
  return name === '' ? signed : `${signed}${signed.includes('?') ? '&' : '?'}filename=${name}`;
}

/** Each page ends before the time of the one before; what it repeats of that time is known. */
async function* listed(ask: Ask, customerHost: string | undefined): AsyncGenerator<ListedVideo> {
  let before = '';
  let known: ReadonlySet<unknown> = new Set();
  for (;;) {
    const page = videosIn(await ask({ method: 'GET', path: `?creator=${CREATOR}${before}` }));
    const fresh = page.filter(({ uid }) => !known.has(uid));
    yield* fresh.map((video) => listedVideo(video, customerHost));
    const last = fresh.at(-1);
    if (!last) return;
    before = `&before=${encodeURIComponent(String(last['created']))}`;
    known = new Set(page.map(({ uid }) => uid));
  }
}

function listedVideo(video: Members, customerHost: string | undefined): ListedVideo {
  const { created, meta } = video;
  const uid = videoIdIn(video['uid']);
  const assetId = membersOf(meta)?.['mediary_asset_id'];
  return {
    videoId: uid,
    assetId: typeof assetId === 'string' ? assetId : undefined,
    createdAt: timeIn(created),
    inspection: () => inspectionOf(video, { source: 'inspect', uid, customerHost }),
  };
}

function codeOf(body: unknown): string | undefined {
  const { errors } = membersOf(body) ?? {};
  const code = Array.isArray(errors) ? membersOf(errors[0])?.['code'] : undefined;
  return Number.isSafeInteger(code) ? `error ${code}` : undefined;
}
