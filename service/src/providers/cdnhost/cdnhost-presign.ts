// Signs direct uploads of browsers to cdnhost; valid for one video until its expiry time.
import { createHash } from 'node:crypto';
import type { Secret } from '../../auth/secret.ts';

/** `expires` is in seconds since 1970. */
type Presigning = {
  readonly libraryId: string;
  readonly apiKey: Secret;
  readonly expires: number;
  readonly videoId: string;
};

/** SHA-256 of the four concatenated values in lower-case hex. */
export const presignature = ({ libraryId, apiKey, expires, videoId }: Presigning): string =>
  createHash('sha256').update(`${libraryId}${apiKey.reveal()}${expires}${videoId}`).digest('hex');
