// Calls cdnhost's own interface: one library, opened by the library's key.
import type { Secret } from '../../auth/secret.ts';
import type { ClientLimits } from '../../platform/http-client.ts';
import { listIn, type Members, membersIn, segmentOf, timeIn, unlessMissing, videoIdIn } from '../answer-parts.ts';
import { askProduct, type Question } from '../hosted-answer.ts';
import { originOf } from '../hosted-settings.ts';
import { wordsOf } from '../hosted-trial.ts';
import { membersOf } from '../opening.ts';
import type { HostedApi, ListedVideo, UploadTarget, UploadWish } from '../provider.ts';
import { presignature } from './cdnhost-presign.ts';
import { folderOf } from './cdnhost-report.ts';
import { assetIdIn, titleOf } from './cdnhost-title.ts';
import { signedFolder } from './cdnhost-token.ts';
import { fileOf, inspectionOf } from './cdnhost-video.ts';

export type CdnhostAccess = {
  readonly apiUrl: string; readonly libraryId: string; readonly apiKey: Secret; readonly hostname: string | undefined;
  /** Where the delivery host demands tokens. */
  readonly tokenKey: Secret | undefined;
  readonly limits: ClientLimits | undefined;
};

/** Answers a body's members. */
type Videos = (question: Omit<Question, 'path'> & { readonly path?: string }) => Promise<Members>;

export function openCdnhostApi(access: CdnhostAccess): HostedApi {
  const { apiUrl, libraryId, apiKey, limits } = access;
  const folder = `/library/${encodeURIComponent(libraryId)}/videos`;
  const ask = askProduct({ url: `${apiUrl}${folder}`, headers: { AccessKey: apiKey.reveal() }, codeOf, limits });
  const videos: Videos = async ({ path = '', ...question }) => membersIn((await ask({ path, ...question })).body);
  const find = (videoId: string) => unlessMissing(pathTo(videoId).then((path) => videos({ method: 'GET', path })));
  return {
    async prepareUpload(wish) {
      const title = titleOf(wish);
      const videoId = wish.videoId ?? videoIdIn((await videos({ method: 'POST', json: { title } }))['guid']);
      return { videoId, target: uploadTarget(access, { ...wish, videoId, title }) };
    },
    async inspect(videoId) {
      const video = await find(videoId);
      return video ? inspectionOf(video, videoId, access) : { state: 'missing' };
    },
    async remove(videoId) { await unlessMissing(pathTo(videoId).then((path) => ask({ method: 'DELETE', path }))); },
    async restart(videoId) { await ask({ method: 'POST', path: `${await pathTo(videoId)}/reencode` }); },
    protect: undefined,
    registerWebhook: undefined,
    async download({ videoId, expires }) {
      const file = fileOf((await find(videoId)) ?? {});
      return file && access.hostname && downloadUrl(access.hostname, `${placeOf(access, { videoId, expires })}${file}`);
    },
    list: () => listed(videos),
    check: () => wordsOf(videos({ method: 'GET', path: '?page=1&itemsPerPage=1' }), { url: apiUrl, key: 'CDNHOST_STREAM_API_KEY', place: 'CDNHOST_STREAM_LIBRARY_ID' }),
  };
}

/** As a promise, so that an id which is none fails like a call. */
const pathTo = async (videoId: string): Promise<string> => `/${segmentOf(videoId)}`;

const downloadUrl = (hostname: string, path: string): string => `${originOf(hostname)}${path}`;

function placeOf({ tokenKey: key }: CdnhostAccess, { videoId, expires }: { videoId: string; expires: number }): string {
  const folder = folderOf(videoId);
  return key ? signedFolder({ key, folder, expires }) : folder;
}

type Sending = UploadWish & { readonly videoId: string; readonly title: string };

function uploadTarget({ apiUrl, libraryId, apiKey }: CdnhostAccess, { videoId, title, mimeType, size, maxBytes, expires }: Sending): UploadTarget {
  return {
    protocol: 'tus', method: 'POST', url: `${apiUrl}/tusupload`,
    headers: { AuthorizationSignature: presignature({ libraryId, apiKey, expires, videoId }), AuthorizationExpire: String(expires), VideoId: videoId, LibraryId: libraryId },
    fields: { filetype: mimeType, title }, expires_at: new Date(expires * 1000).toISOString(), max_bytes: size ?? maxBytes,
  };
}

const PAGE = 100;

async function* listed(videos: Videos): AsyncGenerator<ListedVideo> {
  for (let page = 1; ; page++) {
    const { items, totalItems } = await videos({ method: 'GET', path: `?page=${page}&itemsPerPage=${PAGE}&orderBy=date` });
    const found = listIn(items, 'list');
    yield* found.map(({ guid, title, dateUploaded }) => ({ videoId: videoIdIn(guid), assetId: assetIdIn(title), createdAt: timeIn(dateUploaded) }));
    if (found.length === 0 || page * PAGE >= Number(totalItems)) return;
  }
}

/** `{ success, message, statusCode }`, and nothing finer. */
function codeOf(body: unknown): string | undefined {
  const code = membersOf(body)?.['statusCode'];
  return Number.isSafeInteger(code) ? `status ${code}` : undefined;
}
