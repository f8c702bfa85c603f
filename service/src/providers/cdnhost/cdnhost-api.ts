// Client of the cdnhost API for one library, authenticated by the library's key.
import type { Secret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/http-client.ts';
import {
  parseList,
  type JsonObject,
  parseObject,
  toPathSegment,
  parseTime,
  undefinedIfMissing,
  parseVideoId,
} from '../response-parsers.ts';
import { createHostedClient, type HostedRequest } from '../hosted-client.ts';
import { originOf } from '../hosted-settings.ts';
import { describeFailure } from '../credential-check.ts';
import { toJsonObject } from '../verify-webhook.ts';
import type { UploadTarget } from '@mediary/contract/schemas/uploads';
import type { HostedApi, ListedVideo, UploadOrder } from '../provider.ts';
import { presignature } from './cdnhost-presign.ts';
import { folderOf } from './cdnhost-report.ts';
import { assetIdIn, titleOf } from './cdnhost-title.ts';
import { signedFolder } from './cdnhost-token.ts';
import { fileOf, inspectionOf } from './cdnhost-video.ts';

type CdnhostAccess = {
  readonly apiUrl: string;
  readonly libraryId: string;
  readonly apiKey: Secret;
  readonly hostname: string | undefined;
  /** True when the delivery host requires tokens. */
  readonly tokenKey: Secret | undefined;
  /** Further notes for operators. */
  readonly gaps: readonly string[];
  readonly limits: ClientLimits | undefined;
};

/** Returns the members of a JSON body. */
type Videos = (question: HostedRequest) => Promise<JsonObject>;

export function openCdnhostApi(access: CdnhostAccess): HostedApi {
  const { apiUrl, libraryId, apiKey, limits, gaps } = access;
  const url = `${apiUrl}/library/${encodeURIComponent(libraryId)}/videos`;
  const ask = createHostedClient({ url, headers: { AccessKey: apiKey.reveal() }, codeOf, limits });
  const videos: Videos = async (question) => parseObject((await ask(question)).body);
  const find = (videoId: string) =>
    undefinedIfMissing(() => videos({ method: 'GET', path: pathTo(videoId) }));
  return {
    url: apiUrl,
    async prepareUpload(wish) {
      const title = titleOf(wish);
      const videoId =
        wish.videoId ?? parseVideoId((await videos({ method: 'POST', path: '', json: { title } }))['guid']);
      return { videoId, target: uploadTarget(access, { ...wish, videoId, title }) };
    },
    async inspect(videoId) {
      const video = await find(videoId);
      return video ? inspectionOf(video, videoId) : { state: 'missing' };
    },
    async remove(videoId) {
      await undefinedIfMissing(() => ask({ method: 'DELETE', path: pathTo(videoId) }));
    },
    async restart(videoId) {
      await ask({ method: 'POST', path: `${pathTo(videoId)}/reencode` });
    },
    protect: undefined,
    registerWebhook: undefined,
    download: async ({ videoId, expires }) =>
      downloadUrl(access, { videoId, expires, file: fileOf((await find(videoId)) ?? {}) }),
    list: () => listed(videos),
    check: async () => [
      ...(await describeFailure(videos({ method: 'GET', path: '?page=1&itemsPerPage=1' }), tried(apiUrl))),
      ...gaps,
    ],
  };
}

const tried = (url: string) => ({ url, key: 'CDNHOST_STREAM_API_KEY', place: 'CDNHOST_STREAM_LIBRARY_ID' });

const pathTo = (videoId: string): string => `/${toPathSegment(videoId)}`;

type Wanted = { readonly videoId: string; readonly expires: number; readonly file: string | undefined };

function downloadUrl(
  { hostname, tokenKey: key }: CdnhostAccess,
  { videoId, expires, file }: Wanted,
): string | undefined {
  const folder = folderOf(videoId);
  return (
    hostname && file && `${originOf(hostname)}${key ? signedFolder({ key, folder, expires }) : folder}${file}`
  );
}

type Sending = UploadOrder & { readonly videoId: string; readonly title: string };

function uploadTarget(
  { apiUrl, libraryId, apiKey }: CdnhostAccess,
  { videoId, title, mimeType, size, maxBytes, expires }: Sending,
): UploadTarget {
  return {
    protocol: 'tus',
    method: 'POST',
    url: `${apiUrl}/tusupload`,
    headers: {
      AuthorizationSignature: presignature({ libraryId, apiKey, expires, videoId }),
      AuthorizationExpire: String(expires),
      VideoId: videoId,
      LibraryId: libraryId,
    },
    fields: { filetype: mimeType, title },
    expires_at: new Date(expires * 1000).toISOString(),
    max_bytes: size ?? maxBytes,
  };
}

const PAGE = 100;

async function* listed(videos: Videos): AsyncGenerator<ListedVideo> {
  for (let page = 1; ; page++) {
    const { items, totalItems } = await videos({
      method: 'GET',
      path: `?page=${page}&itemsPerPage=${PAGE}&orderBy=date`,
    });
    const found = parseList(items, 'list');
    yield* found.map(listedVideo);
    if (found.length === 0 || page * PAGE >= Number(totalItems)) return;
  }
}

function listedVideo(video: JsonObject): ListedVideo {
  const videoId = parseVideoId(video['guid']);
  return {
    videoId,
    assetId: assetIdIn(video['title']),
    createdAt: parseTime(video['dateUploaded']),
    inspection: () => inspectionOf(video, videoId),
  };
}

/** Error format `{ success, message, statusCode }`; there are no error codes. */
function codeOf(body: unknown): string | undefined {
  const code = toJsonObject(body)?.['statusCode'];
  return Number.isSafeInteger(code) ? `status ${code}` : undefined;
}
