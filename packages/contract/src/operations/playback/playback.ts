// Operations for players and viewers, and for bytes behind signed URLs.
import { Type } from 'typebox';
import { bytesOperation, type ErrorCase, jsonOperation, type Path } from '../../operation.ts';
import { ACCESS_ERRORS, TICKET_ERRORS } from '../../ticket-errors.ts';
import { Asset, EXAMPLE_ASSET } from '../../schemas/assets/asset.ts';
import { OwnerOnly } from '../../schemas/common.ts';
import { EXAMPLE_PLAYBACK, Playback, PlaybackQuery, PlaybackToken } from '../../schemas/playback.ts';
import { ASSET_ERRORS } from '../media.ts';

export const Ticket = Type.Object({
  ticket: Type.Optional(Type.String({ description: 'Part of the signed URL.' })),
});

export const getPlayback = jsonOperation({
  id: 'getPlayback',
  method: 'GET',
  path: '/api/v1/media/{id}/playback',
  tag: 'Playback',
  auth: 'caller',
  summary: 'Get playback URLs',
  description:
    'URLs of private assets contain a token that expires at `expires_at`. Members are null until the ' +
    'asset is playable. With `access=cookie` the URLs are the fixed ones without a token, and the ' +
    'response sets a cookie for pages of the same origin. The cookie opens the playback paths of this ' +
    'asset until `expires_at`. It is HttpOnly, SameSite=Lax, and Secure where the service is https. ' +
    'Assets that a hosted provider streams, and public ones, get no cookie. Where the operator chose to ' +
    'encrypt the segments of private videos, `encryption` is `aes-128`, and HLS is the only format.',
  query: PlaybackQuery,
  message: 'Playback',
  data: Playback,
  example: EXAMPLE_PLAYBACK,
  errors: ASSET_ERRORS,
});

export const revokePlayback = jsonOperation({
  id: 'revokePlayback',
  method: 'POST',
  path: '/api/v1/media/{id}/revoke-playback',
  tag: 'Playback',
  auth: 'caller',
  summary: 'Revoke playback URLs',
  description:
    'Players that hold one get 401 from their next request on; `GET /api/v1/media/{id}/playback` ' +
    'issues new ones. A public asset keeps playing at its fixed URLs. The CDN of the operator is told to ' +
    'purge the files of the asset. URLs of hosted providers and of an S3 store are valid until they expire.',
  requestHeaders: ['Idempotency-Key'],
  body: OwnerOnly,
  message: 'Playback revoked',
  data: Asset,
  example: EXAMPLE_ASSET,
  errors: ASSET_ERRORS,
});

export const putUpload = bytesOperation({
  id: 'putUpload',
  method: 'PUT',
  path: '/api/v1/uploads/{id}',
  tag: 'Uploads',
  auth: 'ticket',
  summary: 'Upload a file in one request',
  description:
    'The signed URL comes from `upload.url`. An incomplete body is not stored; upload it again from ' +
    'the start.',
  query: Ticket,
  requestExample: { headers: { 'Content-Type': 'video/mp4' }, file: 'launch.mp4' },
  requestHeaders: ['Content-Type'],
  body: {
    mediaTypes: ['video/*', 'audio/*', 'image/*'],
    description: 'The file.',
    example: 'The bytes of the file',
  },
  message: 'Uploaded',
  data: Asset,
  example: { ...EXAMPLE_ASSET, stream_status: 'pending_upload' },
  responseHeaders: { ETag: 'The SHA-256 of the stored bytes, in quotes.' },
  errors: [
    {
      code: 'BAD_REQUEST',
      reason: 'body_cut_short',
      when: 'The body ended early, or has another length than announced.',
    },
    {
      code: 'BAD_REQUEST',
      reason: 'request_too_slow',
      when: 'The body arrived more slowly than 4096 bytes in 10 seconds.',
    },
    { code: 'BAD_REQUEST', reason: 'partial_upload', when: 'The request has a `Content-Range`.' },
    {
      code: 'BAD_REQUEST',
      reason: 'encoded_upload',
      when: 'The request has a `Content-Encoding` other than `identity`.',
    },
    { code: 'BAD_REQUEST', reason: 'quota_exceeded', when: 'The quota of the owner is exceeded.' },
    ...TICKET_ERRORS,
    { code: 'NOT_FOUND', when: 'No such asset, or it is deleted.' },
    { code: 'CONFLICT', reason: 'already_uploaded', when: 'The bytes are stored already.' },
    {
      code: 'CONFLICT',
      reason: 'upload_in_progress',
      when: 'Another upload is running. Send the file again after `Retry-After`.',
    },
    { code: 'PAYLOAD_TOO_LARGE', when: 'The body is larger than the `max_bytes` of the upload.' },
    { code: 'UNSUPPORTED_MEDIA_TYPE', when: 'The Content-Type differs from the announced `mime_type`.' },
    { code: 'UNAVAILABLE', reason: 'disk_full', when: 'Less than `MIN_FREE_BYTES` is free.' },
  ],
});

export const PARTIAL = {
  206: 'The requested range.',
  304: 'Not modified.',
  416: 'The range lies outside the file.',
} as const;

export const PLAYBACK_ERRORS: readonly ErrorCase[] = [
  ...TICKET_ERRORS,
  ...ACCESS_ERRORS,
  { code: 'NOT_FOUND', when: 'Unknown, deleted, private without a token or cookie, or nothing to play yet.' },
];

const REDIRECTS = {
  ...PARTIAL,
  302: 'Redirect to the path with the token, or to the provider that has the file.',
} as const;

const HLS = {
  mediaTypes: ['application/vnd.apple.mpegurl'],
  description: 'The multivariant playlist.',
} as const;
const DASH = {
  mediaTypes: ['application/dash+xml'],
  description: 'The media presentation description.',
} as const;
const JPEG = { mediaTypes: ['image/jpeg'], description: 'The thumbnail.' } as const;

const ENTRIES = [
  ['HlsManifest', 'hls.m3u8', HLS],
  ['DashManifest', 'dash.mpd', DASH],
  ['Thumbnail', 'thumb.jpg', JPEG],
] as const;

/** Manifest and thumbnail of public assets. */
export const publicEntryOperations = ENTRIES.map(([name, file, response]) =>
  bytesOperation({
    id: `get${name}`,
    method: 'GET',
    path: `/api/v1/playback/{id}/${file}`,
    tag: 'Player files',
    auth: 'playback',
    summary: `Get ${file}, public`,
    description: `Returns ${file} of a public asset.`,
    query: Type.Object({ token: PlaybackToken }),
    requestHeaders: ['Range', 'If-None-Match'],
    response,
    otherResponses: REDIRECTS,
    errors: PLAYBACK_ERRORS,
  }),
);

/** Manifest and thumbnail of private assets, with the token in the path. */
export const privateEntryOperations = ENTRIES.map(([name, file, response]) =>
  bytesOperation({
    id: `getPrivate${name}`,
    method: 'GET',
    path: `/api/v1/playback/{id}/~{token}/${file}`,
    tag: 'Player files',
    auth: 'playback',
    rateClass: 'none',
    summary: `Get ${file}, private`,
    description: `Returns ${file} of a private asset.`,
    requestHeaders: ['Range', 'If-None-Match'],
    response,
    otherResponses: REDIRECTS,
    errors: PLAYBACK_ERRORS,
  }),
);

const SEGMENT = {
  mediaTypes: ['application/vnd.apple.mpegurl', 'video/mp4', 'video/iso.segment', 'text/vtt'],
  description: 'A media playlist, an initialization segment, a media segment or captions.',
} as const;

const segmentOperation = <P extends Path>(id: string, path: P, whose: string) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    rateClass: 'none',
    summary: `Get a file of a ${whose} manifest`,
    description: `Returns a file that a manifest of a ${whose} asset names.`,
    requestHeaders: ['Range', 'If-None-Match'],
    response: SEGMENT,
    otherResponses: {
      ...PARTIAL,
      302: 'Redirect of a segment to a signed URL of the object store, where the operator chose that.',
    },
    errors: PLAYBACK_ERRORS,
  });

export const getSegment = segmentOperation('getSegment', '/api/v1/playback/{id}/{folder}/{file}', 'public');
export const getPrivateSegment = segmentOperation(
  'getPrivateSegment',
  '/api/v1/playback/{id}/~{token}/{folder}/{file}',
  'private',
);
