// Client of the edgehost API for one account, authenticated by a token.
import type { Secret } from '../../auth/secret.ts';
import { isPlaybackUrl } from '../../assets/playback-manifest.ts';
import type { ClientLimits } from '../../platform/http-client.ts';
import {
  parseList,
  type JsonObject,
  parseObject,
  toPathSegment,
  parseTime,
  undefinedIfMissing,
  unreadableResponse,
  parseVideoId,
} from '../response-parsers.ts';
import { createHostedClient, type HostedRequest, type HostedResponse } from '../hosted-client.ts';
import { describeFailure } from '../credential-check.ts';
import { toJsonObject } from '../verify-webhook.ts';
import type { HostedApi, ListedVideo, PreparedUpload, UploadOrder } from '../provider.ts';
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

type EdgehostAccess = {
  readonly apiUrl: string;
  readonly accountId: string;
  readonly apiToken: Secret;
  readonly signingKey: SigningKey | undefined;
  /** Further notes for operators. */
  readonly gaps: readonly string[];
  readonly limits: ClientLimits | undefined;
  /** Seconds since 1970. */
  readonly now: () => number;
};

type Ask = (question: HostedRequest) => Promise<HostedResponse>;

export function openEdgehostApi(access: EdgehostAccess): HostedApi {
  const { apiUrl, accountId, apiToken, signingKey, gaps, limits } = access;
  const url = `${apiUrl}/accounts/${encodeURIComponent(accountId)}/stream`;
  const ask = createHostedClient({
    url,
    headers: { Authorization: `Bearer ${apiToken.reveal()}` },
    codeOf,
    limits,
  });
  const find = (videoId: string, path = '') =>
    undefinedIfMissing(async () => resultOf(await ask({ method: 'GET', path: `${pathTo(videoId)}${path}` })));
  return {
    url: apiUrl,
    prepareUpload: (wish) => (isForm(wish) ? openForm : openTus)({ ...access, ask, url }, wish),
    async inspect(videoId) {
      const video = await find(videoId);
      return video ? inspectionOf(video, { source: 'inspect', uid: videoId }) : { state: 'missing' };
    },
    async remove(videoId) {
      await undefinedIfMissing(() => ask({ method: 'DELETE', path: pathTo(videoId) }));
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
        toJsonObject((await find(wish.videoId, '/downloads'))?.['default']) ?? {},
      );
    },
    list: () => listed(ask),
    check: async () => [
      ...(await describeFailure(ask({ method: 'GET', path: '?limit=1' }).then(videosIn), tried(apiUrl))),
      ...gaps,
    ],
  };
}

const tried = (url: string) => ({ url, key: 'EDGEHOST_STREAM_API_TOKEN', place: 'EDGEHOST_ACCOUNT_ID' });

const pathTo = (videoId: string): string => `/${toPathSegment(videoId)}`;

const resultOf = ({ body }: HostedResponse): JsonObject => parseObject(parseObject(body)['result'], 'result');
const videosIn = ({ body }: HostedResponse): readonly JsonObject[] =>
  parseList(parseObject(body)['result'], 'list');

type Opening = EdgehostAccess & { readonly ask: Ask; readonly url: string };

/** An upload URL works once, so each attempt creates a new video. */
async function openForm({ ask, ...access }: Opening, wish: UploadOrder): Promise<PreparedUpload> {
  const wanted = wantedOf(access, wish);
  const { uid, uploadURL: url } = resultOf(
    await ask({ method: 'POST', path: '/direct_upload', json: formBody(wanted) }),
  );
  if (typeof url !== 'string' || !isPlaybackUrl(url)) throw unreadableResponse('upload address');
  return {
    videoId: parseVideoId(uid),
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

async function openTus({ ask, url: base, ...access }: Opening, wish: UploadOrder): Promise<PreparedUpload> {
  const wanted = wantedOf(access, wish);
  const { headers } = await ask({ method: 'POST', path: '?direct_user=true', headers: tusHeaders(wanted) });
  const url = URL.parse(headers.get('location') ?? 'none:', base)?.href ?? '';
  if (!isPlaybackUrl(url)) throw unreadableResponse('upload address');
  return {
    videoId: parseVideoId(headers.get('stream-media-id')),
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

const wantedOf = ({ signingKey, now }: Pick<EdgehostAccess, 'signingKey' | 'now'>, wish: UploadOrder) => ({
  ...wish,
  expiry: expiryOf(wish, now()),
  requireSignedUrls: wish.isPrivate && signingKey !== undefined,
});

async function registerWebhook(ask: Ask, notificationUrl: string) {
  const { secret } = resultOf(await ask({ method: 'PUT', path: '/webhook', json: { notificationUrl } }));
  if (typeof secret !== 'string' || secret === '') throw unreadableResponse('secret');
  return { secret, setting: 'EDGEHOST_STREAM_WEBHOOK_SECRET' };
}

type DownloadWish = Parameters<HostedApi['download']>[0];

/** A token is also accepted for a video that requires none. */
function downloadUrl(
  { signingKey, now }: EdgehostAccess,
  { videoId, filename, expires }: DownloadWish,
  { status, url }: JsonObject,
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

/** Each page ends before the time of the previous one; repeated videos are skipped. */
async function* listed(ask: Ask): AsyncGenerator<ListedVideo> {
  let before = '';
  let known: ReadonlySet<unknown> = new Set();
  for (;;) {
    const page = videosIn(await ask({ method: 'GET', path: `?creator=${CREATOR}${before}` }));
    const fresh = page.filter(({ uid }) => !known.has(uid));
    yield* fresh.map(listedVideo);
    const last = fresh.at(-1);
    if (!last) return;
    before = `&before=${encodeURIComponent(String(last['created']))}`;
    known = new Set(page.map(({ uid }) => uid));
  }
}

function listedVideo(video: JsonObject): ListedVideo {
  const { created, meta } = video;
  const uid = parseVideoId(video['uid']);
  const assetId = toJsonObject(meta)?.['mediary_asset_id'];
  return {
    videoId: uid,
    assetId: typeof assetId === 'string' ? assetId : undefined,
    createdAt: parseTime(created),
    inspection: () => inspectionOf(video, { source: 'inspect', uid }),
  };
}

function codeOf(body: unknown): string | undefined {
  const { errors } = toJsonObject(body) ?? {};
  const code = Array.isArray(errors) ? toJsonObject(errors[0])?.['code'] : undefined;
  return Number.isSafeInteger(code) ? `error ${code}` : undefined;
}
