// Client of the edgehost API for one account, authenticated by a token.
import type { Secret } from '../../auth/secret.ts';
import { isPlaybackUrl } from '../../assets/playback-manifest.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import {
  parseList,
  type ResponseObject,
  parseObject,
  toPathSegment,
  parseTime,
  undefinedIfMissing,
  unreadableResponse,
  parseVideoId,
} from '../shared/response-parsers.ts';
import { createHostedClient, type HostedResponse, type SendHosted } from '../shared/hosted-client.ts';
import { toJsonObject } from '../shared/verify-webhook.ts';
import {
  type ProviderDownload,
  type DownloadOrder,
  type HostedApi,
  type ListedVideo,
  type PreparedUpload,
  ProviderError,
  type UploadOrder,
} from '../provider.ts';
import { checkEdgehost } from './edgehost-check.ts';
import { type SigningKey, createVideoToken } from './edgehost-signatures.ts';
import {
  CHUNKS,
  CREATOR,
  toDownloadName,
  toUploadExpiry,
  buildFormBody,
  isFormUpload,
  toMaxBytes,
  buildTusHeaders,
  toReservedSeconds,
  UPLOAD_RULES,
} from './edgehost-upload.ts';
import { toInspection } from './edgehost-video.ts';

type EdgehostAccess = {
  readonly apiUrl: string;
  readonly accountId: string;
  readonly apiToken: Secret;
  readonly signingKey: SigningKey | undefined;
  /** Reserved for an upload of unknown duration. */
  readonly defaultDurationSeconds: number;
  /** True when a part of the signing key is set. */
  readonly hasSigningSettings: boolean;
  readonly webhookSecrets: readonly Secret[];
  readonly customerHost: string | undefined;
  readonly limits: ClientLimits | undefined;
  /** Seconds since 1970. */
  readonly now: () => number;
};

export function openEdgehostApi(access: EdgehostAccess): HostedApi {
  const { apiUrl, accountId, apiToken, limits } = access;
  const url = `${apiUrl}/accounts/${encodeURIComponent(accountId)}/stream`;
  const send = createHostedClient({
    url,
    headers: { Authorization: `Bearer ${apiToken.reveal()}` },
    parseErrorCode,
    failuresByCode: { 'error 10011': 'provider_quota' },
    limits,
  });
  const find = (videoId: string, path = '') =>
    undefinedIfMissing(async () =>
      toResult(await send({ method: 'GET', path: `${pathTo(videoId)}${path}` })),
    );
  return {
    url: apiUrl,
    uploadRules: UPLOAD_RULES,
    prepareUpload: (order) => (isFormUpload(order) ? openForm : openTus)({ ...access, send, url }, order),
    tusRelay: { chunks: CHUNKS, create: (order) => openTus({ ...access, send, url }, order) },
    async inspect(videoId) {
      const video = await find(videoId);
      return video ? toInspection(video, { source: 'inspect', uid: videoId }) : { state: 'missing' };
    },
    async remove(videoId) {
      await undefinedIfMissing(() => send({ method: 'DELETE', path: pathTo(videoId) }));
    },
    restart: undefined,
    async protect(videoId, isPrivate) {
      await send({ method: 'POST', path: pathTo(videoId), json: { requireSignedURLs: isPrivate } });
    },
    registerWebhook: (notificationUrl) => registerWebhook(send, notificationUrl),
    async createDownloadUrl(order) {
      const downloads = await find(order.videoId, '/downloads');
      if (!downloads) return undefined;
      const file = toJsonObject(downloads['default']) ?? (await requestDownload(send, order.videoId));
      return file && toDownload(access, order, file);
    },
    list: () => listVideos(send),
    check: (target) => checkEdgehost({ ...access, send, verifyToken: () => verifyToken(access) }, target),
  };
}

/** Tokens belong to a user or to an account; each kind has its own endpoint. */
async function verifyToken({ apiUrl, accountId, apiToken, limits }: EdgehostAccess): Promise<boolean> {
  const send = createHostedClient({
    url: apiUrl,
    headers: { Authorization: `Bearer ${apiToken.reveal()}` },
    parseErrorCode,
    limits,
  });
  const isActive = async (owner: string) =>
    toResult(await send({ method: 'GET', path: `${owner}/tokens/verify` }))['status'] === 'active';
  return isActive('/user').catch(() => isActive(`/accounts/${encodeURIComponent(accountId)}`));
}

const pathTo = (videoId: string): string => `/${toPathSegment(videoId)}`;

const toResult = ({ body }: HostedResponse): ResponseObject =>
  parseObject(parseObject(body)['result'], 'result');
const toVideos = ({ body }: HostedResponse): readonly ResponseObject[] =>
  parseList(parseObject(body)['result'], 'list');

type UploadContext = EdgehostAccess & { readonly send: SendHosted; readonly url: string };

/** An upload URL works once, so each attempt creates a new video. */
async function openForm(access: UploadContext, order: UploadOrder): Promise<PreparedUpload> {
  const parameters = toParameters(access, order);
  const { uid, uploadURL: url } = toResult(
    await access.send({ method: 'POST', path: '/direct_upload', json: buildFormBody(parameters) }),
  );
  if (typeof url !== 'string' || !isPlaybackUrl(url)) throw unreadableResponse('upload URL');
  return {
    videoId: parseVideoId(uid),
    target: {
      protocol: 'form',
      method: 'POST',
      url,
      headers: {},
      fields: {},
      expires_at: parameters.expiry,
      max_bytes: toMaxBytes(order),
    },
  };
}

async function openTus(access: UploadContext, order: UploadOrder): Promise<PreparedUpload> {
  const parameters = toParameters(access, order);
  const { headers } = await access.send({
    method: 'POST',
    path: '?direct_user=true',
    headers: buildTusHeaders(parameters),
  });
  const url = URL.parse(headers.get('location') ?? 'none:', access.url)?.href ?? '';
  if (!isPlaybackUrl(url)) throw unreadableResponse('upload URL');
  return {
    videoId: parseVideoId(headers.get('stream-media-id')),
    target: {
      protocol: 'tus',
      method: 'PATCH',
      url,
      headers: {},
      fields: {},
      ...CHUNKS,
      expires_at: parameters.expiry,
      max_bytes: toMaxBytes(order),
    },
  };
}

const toParameters = ({ signingKey, now, defaultDurationSeconds }: EdgehostAccess, order: UploadOrder) => ({
  ...order,
  reservedSeconds: toReservedSeconds(order, defaultDurationSeconds),
  expiry: toUploadExpiry(order, now()),
  requireSignedUrls: order.isPrivate && signingKey !== undefined,
});

async function registerWebhook(send: SendHosted, notificationUrl: string) {
  const { secret } = toResult(await send({ method: 'PUT', path: '/webhook', json: { notificationUrl } }));
  if (typeof secret !== 'string' || secret === '') throw unreadableResponse('secret');
  return { secret, setting: 'EDGEHOST_STREAM_WEBHOOK_SECRET' };
}

/** Starts the encoding of the MP4; undefined while the video itself is not ready. */
async function requestDownload(send: SendHosted, videoId: string): Promise<ResponseObject | undefined> {
  try {
    const result = toResult(await send({ method: 'POST', path: `${pathTo(videoId)}/downloads` }));
    return parseObject(result['default'], 'download');
  } catch (error) {
    if (error instanceof ProviderError && error.failure.code === 'provider_rejected') return undefined;
    throw error;
  }
}

const DOWNLOAD_POLL_S = 10;

/** A token is also accepted for a video that requires none. */
function toDownload(
  { signingKey, now }: EdgehostAccess,
  { videoId, filename, expires }: DownloadOrder,
  { status, url }: ResponseObject,
): ProviderDownload | undefined {
  if (status === 'inprogress') return { state: 'preparing', retryAfterSeconds: DOWNLOAD_POLL_S };
  if (status !== 'ready' || typeof url !== 'string' || !isPlaybackUrl(url)) return undefined;
  const signed = signingKey
    ? url.replace(
        `/${videoId}/`,
        () => `/${createVideoToken(signingKey, { videoId, expires, now: now(), downloadable: true })}/`,
      )
    : url;
  const name = toDownloadName(filename);
  const query = name === '' ? '' : `${signed.includes('?') ? '&' : '?'}filename=${name}`;
  return { state: 'ready', url: `${signed}${query}` };
}

/** Each page ends before the time of the previous one; repeated videos are skipped. */
async function* listVideos(send: SendHosted): AsyncGenerator<ListedVideo> {
  let before = '';
  let known: ReadonlySet<unknown> = new Set();
  for (;;) {
    const page = toVideos(await send({ method: 'GET', path: `?creator=${CREATOR}${before}` }));
    const fresh = page.filter(({ uid }) => !known.has(uid));
    yield* fresh.map(toListedVideo);
    const last = fresh.at(-1);
    if (!last) return;
    before = `&before=${encodeURIComponent(String(last['created']))}`;
    known = new Set(page.map(({ uid }) => uid));
  }
}

function toListedVideo(video: ResponseObject): ListedVideo {
  const { created, meta } = video;
  const uid = parseVideoId(video['uid']);
  const assetId = toJsonObject(meta)?.['mediary_asset_id'];
  return {
    videoId: uid,
    assetId: typeof assetId === 'string' ? assetId : undefined,
    createdAt: parseTime(created),
    inspection: () => toInspection(video, { source: 'inspect', uid }),
  };
}

function parseErrorCode(body: unknown): string | undefined {
  const { errors } = toJsonObject(body) ?? {};
  const code = Array.isArray(errors) ? toJsonObject(errors[0])?.['code'] : undefined;
  return Number.isSafeInteger(code) ? `error ${code}` : undefined;
}
