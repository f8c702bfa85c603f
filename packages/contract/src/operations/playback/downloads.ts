// Operations for downloads of originals.
import { bytesOperation, jsonOperation } from '../../operation.ts';
import { DownloadUrl, EXAMPLE_DOWNLOAD } from '../../schemas/playback.ts';
import { ACCESS_ERRORS, TICKET_ERRORS } from '../../ticket-errors.ts';
import { ASSET_ERRORS } from '../media.ts';
import { PARTIAL, Ticket } from './playback.ts';

export const getDownloadUrl = jsonOperation({
  id: 'getDownloadUrl',
  method: 'GET',
  path: '/api/v1/media/{id}/download-url',
  tag: 'Playback',
  auth: 'caller',
  summary: 'Get a download URL',
  description:
    'The URL is of the service, of an S3 store or of a video provider: send it a GET without ' +
    'credentials. A URL of an S3 store expires at `expires_at` and not before. This also holds when its ' +
    'asset is deleted and the file is kept for a restore. Where `access` limits who may play the asset, ' +
    'a user gets a URL of the service, which checks these rules. The URL of a service key opens without ' +
    'them. Where a hosted provider has to make the file first (`edgehost`), the first request starts ' +
    'that. Until `state` is `ready`, the response is 200 with `url` null, `state` `preparing` and ' +
    '`retry_after_s`.',
  message: 'Download URL',
  data: DownloadUrl,
  example: EXAMPLE_DOWNLOAD,
  errors: [
    ...ASSET_ERRORS,
    {
      code: 'FORBIDDEN',
      reason: 'downloads_not_allowed',
      when: 'Only service keys may download it.',
    },
    { code: 'NOT_FOUND', reason: 'not_uploaded', when: 'No bytes are stored.' },
    { code: 'NOT_FOUND', reason: 'no_download', when: 'The video provider offers no file of this video.' },
    { code: 'UNAVAILABLE', reason: 'provider_unreachable', when: 'The video provider cannot be reached.' },
  ],
});

export const downloadOriginal = bytesOperation({
  id: 'downloadOriginal',
  method: 'GET',
  path: '/api/v1/downloads/{id}',
  tag: 'Playback',
  auth: 'ticket',
  summary: 'Download the original file',
  description: 'Downloads the original file under its own name.',
  query: Ticket,
  requestExample: { output: 'launch.mp4' },
  requestHeaders: ['Range', 'If-None-Match'],
  response: { mediaTypes: ['video/*', 'audio/*', 'image/*'], description: 'The original file.' },
  otherResponses: PARTIAL,
  errors: [
    ...TICKET_ERRORS,
    ...ACCESS_ERRORS,
    { code: 'NOT_FOUND', reason: 'not_uploaded', when: 'No such asset, or no bytes are stored.' },
  ],
});
