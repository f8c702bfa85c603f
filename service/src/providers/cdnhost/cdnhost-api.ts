// Client of the cdnhost API for one library, authenticated by the library's key.
import type { Secret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/outbound/http-client.ts';
import {
  parseList,
  type ResponseObject,
  parseObject,
  toPathSegment,
  parseTime,
  undefinedIfMissing,
  parseVideoId,
} from '../shared/response-parsers.ts';
import { createHostedClient, type HostedRequest } from '../shared/hosted-client.ts';
import { originOf } from '../shared/hosted-settings.ts';
import { toJsonObject } from '../shared/verify-webhook.ts';
import type { ProviderDownload, HostedApi, ListedVideo, UploadOrder } from '../provider.ts';
import type { UploadTarget } from '@mediary/contract/schemas/upload-targets';
import { checkCdnhost } from './cdnhost-check.ts';
import { signDirectUpload, signFolder } from './cdnhost-signatures.ts';
import { folderOf } from './cdnhost-report.ts';
import { findDownloadFile, toInspection, parseAssetId, toTitle } from './cdnhost-video.ts';

type CdnhostAccess = {
  readonly apiUrl: string;
  readonly libraryId: string;
  readonly apiKey: Secret;
  readonly hostname: string | undefined;
  /** True when the delivery host requires tokens. */
  readonly tokenKey: Secret | undefined;
  /** The read-only key of the library, and its predecessor. */
  readonly webhookSecrets: readonly Secret[];
  readonly limits: ClientLimits | undefined;
};

/** Returns the members of a JSON body. */
type RequestVideos = (request: HostedRequest) => Promise<ResponseObject>;

export function openCdnhostApi(access: CdnhostAccess): HostedApi {
  const { apiUrl, libraryId, apiKey, limits } = access;
  const url = `${apiUrl}/library/${encodeURIComponent(libraryId)}/videos`;
  const open = (key: Secret) =>
    createHostedClient({ url, headers: { AccessKey: key.reveal() }, parseErrorCode, limits });
  const send = open(apiKey);
  const request: RequestVideos = async (hosted) => parseObject((await send(hosted)).body);
  const find = (videoId: string) =>
    undefinedIfMissing(() => request({ method: 'GET', path: pathTo(videoId) }));
  return {
    url: apiUrl,
    uploadRules: undefined,
    tusRelay: undefined,
    async prepareUpload(order) {
      const title = toTitle(order);
      const videoId =
        order.videoId ?? parseVideoId((await request({ method: 'POST', path: '', json: { title } }))['guid']);
      return { videoId, target: toUploadTarget(access, { ...order, videoId, title }) };
    },
    async inspect(videoId) {
      const video = await find(videoId);
      return video ? toInspection(video, videoId) : { state: 'missing' };
    },
    async remove(videoId) {
      await undefinedIfMissing(() => send({ method: 'DELETE', path: pathTo(videoId) }));
    },
    async restart(videoId) {
      await send({ method: 'POST', path: `${pathTo(videoId)}/reencode` });
    },
    protect: undefined,
    registerWebhook: undefined,
    createDownloadUrl: async ({ videoId, expires }) =>
      toDownload(access, { videoId, expires, file: findDownloadFile((await find(videoId)) ?? {}) }),
    list: () => listVideos(request),
    check: (target) => checkCdnhost({ ...access, open }, target),
  };
}

const pathTo = (videoId: string): string => `/${toPathSegment(videoId)}`;

type DownloadFile = { readonly videoId: string; readonly expires: number; readonly file: string | undefined };

function toDownload(
  { hostname, tokenKey: key }: CdnhostAccess,
  { videoId, expires, file }: DownloadFile,
): ProviderDownload | undefined {
  if (hostname === undefined || file === undefined) return undefined;
  const folder = folderOf(videoId);
  const path = key ? signFolder({ key, folder, expires }) : folder;
  return { state: 'ready', url: `${originOf(hostname)}${path}${file}` };
}

/** The product documents no limits; chunks are for clients that read the file as a stream. */
const CHUNK_SIZE = 52_428_800;

type VideoUpload = UploadOrder & { readonly videoId: string; readonly title: string };

function toUploadTarget(
  { apiUrl, libraryId, apiKey }: CdnhostAccess,
  { videoId, title, mimeType, size, maxBytes, expires }: VideoUpload,
): UploadTarget {
  return {
    protocol: 'tus',
    method: 'POST',
    url: `${apiUrl}/tusupload`,
    headers: {
      AuthorizationSignature: signDirectUpload({ libraryId, apiKey, expires, videoId }),
      AuthorizationExpire: String(expires),
      VideoId: videoId,
      LibraryId: libraryId,
    },
    fields: { filetype: mimeType, title },
    chunk_size_bytes: CHUNK_SIZE,
    expires_at: new Date(expires * 1000).toISOString(),
    max_bytes: size ?? maxBytes,
  };
}

const PAGE_SIZE = 100;

async function* listVideos(request: RequestVideos): AsyncGenerator<ListedVideo> {
  for (let page = 1; ; page++) {
    const { items, totalItems } = await request({
      method: 'GET',
      path: `?page=${page}&itemsPerPage=${PAGE_SIZE}&orderBy=date`,
    });
    const videos = parseList(items, 'list');
    yield* videos.map(toListedVideo);
    if (videos.length === 0 || page * PAGE_SIZE >= Number(totalItems)) return;
  }
}

function toListedVideo(video: ResponseObject): ListedVideo {
  const videoId = parseVideoId(video['guid']);
  return {
    videoId,
    assetId: parseAssetId(video['title']),
    createdAt: parseTime(video['dateUploaded']),
    inspection: () => toInspection(video, videoId),
  };
}

/** Error format `{ success, message, statusCode }`; there are no error codes. */
function parseErrorCode(body: unknown): string | undefined {
  const code = toJsonObject(body)?.['statusCode'];
  return Number.isSafeInteger(code) ? `status ${code}` : undefined;
}
