// What an object or a file says about itself, as an item of a migration.
import { type ItemFacts, NO_FACTS } from '../source.ts';
import type { MediaObject } from './object-list.ts';

type Place = {
  readonly id: string;
  /** By which the service adopts it. */
  readonly storageUrl: string;
};

export const toMediaFacts = (object: MediaObject, { id, storageUrl }: Place): ItemFacts => ({
  ...NO_FACTS,
  id,
  title: toFilename(object).replace(/\.[^.]+$/, ''),
  createdAt: object.modifiedAt,
  sizeBytes: object.sizeBytes,
  fileSizeBytes: object.sizeBytes,
  storageUrl,
  problem: findProblem(object),
});

export const toFilename = ({ key }: MediaObject): string => key.split('/').at(-1) ?? key;

function findProblem({ sizeBytes, mimeType }: MediaObject): string | null {
  if (mimeType === undefined) return 'The name does not tell a supported media type.';
  return sizeBytes === 0 ? 'The object is empty.' : null;
}

/** `s3://<bucket>/<key>` or `file:///<path>`. */
export const toStorageUrl = (scheme: 's3' | 'file', name: string): string =>
  `${scheme}://${name.split('/').map(encodeURIComponent).join('/')}`;
