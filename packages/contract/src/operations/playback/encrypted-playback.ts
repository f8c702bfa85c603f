// Files of videos whose segments are encrypted on their way to players.
import { bytesOperation, type Path } from '../../operation.ts';
import { PLAYBACK_ERRORS } from './playback.ts';

const ENCRYPTED = {
  mediaTypes: ['application/vnd.apple.mpegurl', 'video/mp4', 'video/iso.segment', 'application/octet-stream'],
  description: 'A media playlist, an initialization segment, an encrypted segment, or a key of 16 bytes.',
} as const;

const encryptedOperation = <P extends Path>(id: string, path: P, access: string) =>
  bytesOperation({
    id,
    method: 'GET',
    path,
    tag: 'Player files',
    auth: 'playback',
    rateClass: 'none',
    summary: `Get an encrypted file, with ${access}`,
    description:
      'Segments are encrypted with AES-128 (`METHOD=AES-128` of HLS) and sent as a whole: ranges are ' +
      'ignored. The key is never cached (`no-store`). `key_id` changes when playback is revoked, when the ' +
      'visibility changes and when the video is encoded again; URLs with an earlier one are 404.',
    requestHeaders: ['If-None-Match'],
    response: ENCRYPTED,
    otherResponses: { 304: 'Not modified.' },
    errors: PLAYBACK_ERRORS,
  });

export const encryptedOperations = [
  encryptedOperation('getEncryptedFile', '/api/v1/playback/{id}/{folder}/{key_id}/{file}', 'a cookie'),
  encryptedOperation(
    'getPrivateEncryptedFile',
    '/api/v1/playback/{id}/~{token}/{folder}/{key_id}/{file}',
    'a token',
  ),
];
