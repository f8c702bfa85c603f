// The signature with which a browser sends bytes to cdnhost: it names one video of one library, until a time.
import { createHash } from 'node:crypto';
import type { Secret } from '../../auth/secret.ts';

/** `expires`: seconds since 1970. */
export type Presigning = {
  readonly libraryId: string;
  readonly apiKey: Secret;
  readonly expires: number;
  readonly videoId: string;
};

/** A plain hash of the four one after the other, in lower-case hex. */
export const presignature = ({ libraryId, apiKey, expires, videoId }: Presigning): string =>
  createHash('sha256').update(`${libraryId}${apiKey.reveal()}${expires}${videoId}`).digest('hex');
