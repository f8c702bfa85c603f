// Answers `createEndpointClient` and <mediary-uploader endpoint> in a back end that handles `Request`s.
import type { CreateUploadRequest, ReplaceFileRequest } from '../api/uploads.ts';
import { MediaryError } from '../errors.ts';
import type { VersionCalls } from '../calls/versions.ts';
import type { Media } from '../mediary.ts';

type NewUpload = Omit<CreateUploadRequest, 'owner_user_id'>;
type Owner = string | number;

export type UploadHandlerOptions = {
  /** A client with the service key. */
  mediary: {
    readonly media: Pick<Media, 'createUpload' | 'complete' | 'get' | 'playback'>;
    readonly versions: Pick<VersionCalls, 'replace'>;
  };
  /** The user of the session that the request belongs to; undefined is answered with 401. */
  findOwner: (request: Request) => Owner | undefined | Promise<Owner | undefined>;
  /**
   * What is created for what the page asks. Default: the file alone, so that no page chooses visibility,
   * tags, metadata or provider. A `MediaryError` with a status is passed on to the page.
   */
  toUpload?: ((asked: NewUpload, owner: Owner) => NewUpload | Promise<NewUpload>) | undefined;
};

/**
 * Creates the handler of a path of your back end, and of all paths below it. Pages reach only assets of their
 * own user. Requests that create an upload must be JSON, so that no form of another site can send one.
 * Errors of the service are passed on. Throws what `findOwner` and `toUpload` throw, and for a service key
 * that the service refuses.
 *
 * @example const POST = createUploadHandler({ mediary, findOwner: async () => (await auth())?.userId });
 */
export function createUploadHandler(options: UploadHandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const owner = await options.findOwner(request);
      if (owner === undefined) throw refusal(401, 'UNAUTHORIZED', 'Sign in to upload.');
      return Response.json(await answer(options, request, owner));
    } catch (error) {
      return toResponse(error);
    }
  };
}

const ASSET_PATH = /\/([0-9a-f-]{36})(\/complete|\/playback|\/replace)?\/?$/i;
const POSTED = ['/complete', '/replace'];

async function answer(
  { mediary: { media, versions }, toUpload = pickFile }: UploadHandlerOptions,
  request: Request,
  owner: Owner,
): Promise<unknown> {
  const [, id, action] = ASSET_PATH.exec(new URL(request.url).pathname) ?? [];
  const isPost = request.method === 'POST';
  const options = { ownerUserId: owner };
  const idempotencyKey = request.headers.get('idempotency-key') ?? undefined;
  if (id === undefined) {
    if (!isPost) throw notFound();
    const upload = await toUpload(await readUpload(request), owner);
    return media.createUpload(upload, { ...options, idempotencyKey });
  }
  if (isPost !== POSTED.includes(action ?? '')) throw notFound();
  // The service key reads assets of all owners.
  const asset = await media.get(id, options);
  if (asset.owner_user_id !== String(owner)) throw notFound();
  if (action === '/replace')
    return versions.replace(id, pickReplacement(await readUpload(request)), { ...options, idempotencyKey });
  if (isPost) return media.complete(id, options);
  return action === '/playback' ? media.playback(id, options) : asset;
}

async function readUpload(request: Request): Promise<NewUpload> {
  const isJson = /^application\/json\b/i.test(request.headers.get('content-type') ?? '');
  const asked: unknown = isJson ? await request.json().catch(() => undefined) : undefined;
  if (typeof asked !== 'object' || asked === null || Array.isArray(asked))
    throw refusal(400, 'BAD_REQUEST', 'The body must be a JSON object, with Content-Type application/json.');
  return asked as NewUpload;
}

const pickFile = (asked: NewUpload): NewUpload => ({
  filename: asked.filename,
  content_type: asked.content_type,
  mime_type: asked.mime_type,
  size_bytes: asked.size_bytes,
  checksum_sha256: asked.checksum_sha256,
});

const pickReplacement = (asked: NewUpload & Pick<ReplaceFileRequest, 'keep'>): ReplaceFileRequest => ({
  ...pickFile(asked),
  keep: asked.keep,
});

const refusal = (
  status: number,
  errorCode: 'UNAUTHORIZED' | 'BAD_REQUEST' | 'NOT_FOUND',
  message: string,
): MediaryError => new MediaryError(message, { status, errorCode });

const notFound = (): MediaryError => refusal(404, 'NOT_FOUND', 'No such upload.');

/** The envelope of the API. */
function toResponse(error: unknown): Response {
  if (!(error instanceof MediaryError) || isOfKey(error)) throw error;
  const { status, message, errorCode, details, retryAfterS } = error;
  if (status === undefined) return refuse(503, 'The media service cannot be reached.', 'UNAVAILABLE');
  const response = refuse(status, message, errorCode, details);
  if (retryAfterS !== undefined) response.headers.set('retry-after', `${retryAfterS}`);
  return response;
}

/** The page cannot do anything about the key of the back end. */
const isOfKey = ({ status, requestId }: MediaryError): boolean =>
  requestId !== undefined && (status === 401 || status === 403);

const refuse = (...[status, message, errorCode, details = null]: Refusal): Response =>
  Response.json(
    { success: false, message, code: status, error: { error_code: errorCode, details } },
    { status },
  );

type Refusal = [status: number, message: string, errorCode: string, details?: object | null];
