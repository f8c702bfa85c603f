// Checks of CORS: what a browser needs to upload and to play.
import { type CrossOriginRequest, findCrossOriginTrouble } from '@mediary/checks/cors';
import { type Finding, notChecked, ok, problem } from '@mediary/checks/finding';
import type { Send } from '@mediary/checks/probe';

/** No asset has this id: the responses are errors, which carry the CORS headers too. */
const NO_ASSET = '00000000-0000-7000-8000-000000000000';
/** Playback allows every origin. */
const ANY_ORIGIN = 'https://player.example';

const UPLOADS: Readonly<Record<string, CrossOriginRequest>> = {
  'cors.api': {
    path: '/api/v1/media/upload-url',
    method: 'POST',
    headers: ['authorization', 'content-type', 'idempotency-key', 'prefer'],
    exposed: ['x-request-id', 'retry-after'],
  },
  'cors.upload': {
    path: `/api/v1/uploads/${NO_ASSET}`,
    method: 'PUT',
    headers: ['content-type'],
    exposed: ['etag'],
  },
  'cors.resumable_upload': {
    path: `/api/v1/uploads/${NO_ASSET}/tus`,
    method: 'PATCH',
    headers: ['content-type', 'tus-resumable', 'upload-offset'],
    exposed: ['location', 'tus-resumable', 'upload-offset', 'upload-length', 'upload-expires'],
  },
};

const PLAYBACK: CrossOriginRequest = {
  path: `/api/v1/playback/${NO_ASSET}/hls.m3u8`,
  method: 'GET',
  headers: ['range'],
  exposed: ['content-length', 'content-range', 'accept-ranges'],
};

export async function checkCors(send: Send, origin: string | undefined): Promise<readonly Finding[]> {
  const playback = await checkPlayback(send);
  if (origin === undefined)
    return [
      playback,
      notChecked(
        'cors.upload',
        'Uploads from web pages were not checked.',
        'Name the origin of your web page: --origin https://app.example.com',
      ),
    ];
  const uploads = Object.entries(UPLOADS).map(([check, request]) =>
    checkUpload(send, { check, origin, request }),
  );
  return [playback, ...(await Promise.all(uploads))];
}

async function checkPlayback(send: Send): Promise<Finding> {
  const trouble = await findCrossOriginTrouble(send, ANY_ORIGIN, PLAYBACK);
  const details = { origin: ANY_ORIGIN, path: PLAYBACK.path };
  return trouble === undefined
    ? ok('cors.playback', 'Players on every site can read manifests and segments.', details)
    : problem('cors.playback', {
        message: `Players on other sites cannot read manifests and segments: ${trouble.text}.`,
        fix: trouble.fix,
        details,
      });
}

type UploadCheck = { readonly check: string; readonly origin: string; readonly request: CrossOriginRequest };

async function checkUpload(send: Send, { check, origin, request }: UploadCheck): Promise<Finding> {
  const { method, path } = request;
  const trouble = await findCrossOriginTrouble(send, origin, request);
  const shown = `${method} ${path.replace(NO_ASSET, '{id}')}`;
  const details = { origin, path };
  return trouble === undefined
    ? ok(check, `${shown} is allowed from ${origin}.`, details)
    : problem(check, {
        message: `${shown} is not allowed from ${origin}: ${trouble.text}.`,
        fix: trouble.fix,
        details,
      });
}
