// Reads the files of an owner's archive in their order, and computes what its manifest must say.
import { createHash } from 'node:crypto';
import { readTar, type TarEntry } from '../../platform/archive/tar-reader.ts';
import { badRequest, ServiceError } from '../../platform/http/errors.ts';
import {
  type ArchivedFile,
  isCollectionPath,
  MANIFEST_FILE,
  parseFileName,
  toSumLine,
} from '../archive-format.ts';
import type { OwnersContext } from '../context.ts';

/** A file of an asset. */
export type FolderFile = ArchivedFile & { readonly entry: TarEntry };

export type ArchiveReader = {
  /** The file of this name, which must be the next one. */
  readonly nextNamed: (name: string) => Promise<TarEntry>;
  /** The next file of an asset. Undefined in front of the collections and the manifest. */
  readonly nextFile: () => Promise<FolderFile | undefined>;
  /** The next file of a collection. Undefined in front of the manifest. */
  readonly nextCollection: () => Promise<TarEntry | undefined>;
  /** Reads the rest of a file. Returns its SHA-256, which belongs to the list of all files. */
  readonly finish: (entry: TarEntry) => Promise<string>;
  /** Reads to the end of the archive, in which no other file follows. */
  readonly end: () => Promise<void>;
  /** The files so far. */
  readonly listFiles: () => { readonly count: number; readonly sha256: string };
  readonly close: () => Promise<void>;
};

/**
 * Calls throw `archive_truncated`, `archive_invalid`, and `archive_too_large` beyond OWNER_IMPORT_MAX_BYTES.
 */
export function openArchive(
  { settings }: Pick<OwnersContext, 'settings'>,
  bytes: AsyncIterable<Uint8Array>,
): ArchiveReader {
  const entries = readTar(limitBytes(bytes, settings.ownerImportLimits.bytes));
  const list = createHash('sha256');
  let count = 0;
  let ahead: TarEntry | undefined;
  const next = async (): Promise<TarEntry> => {
    const entry = ahead ?? (await entries.next()).value;
    ahead = undefined;
    return entry ?? refuseTruncated();
  };
  return {
    nextNamed: async (name) => {
      const entry = await next();
      if (entry.name === name) return entry;
      throw invalidArchive(`The archive has ${quote(entry.name)} where ${name} must be.`);
    },
    nextFile: async () => {
      const entry = await next();
      const file = parseFileName(entry.name);
      if (file) return { ...file, entry };
      assertAfterAssets(entry);
      ahead = entry;
      return undefined;
    },
    nextCollection: async () => {
      const entry = await next();
      if (isCollectionPath(entry.name)) return entry;
      ahead = entry;
      return undefined;
    },
    finish: async (entry) => {
      const sha256 = await entry.finish();
      list.update(toSumLine({ path: entry.name, sha256 }));
      count += 1;
      return sha256;
    },
    end: async () => {
      const entry = (await entries.next()).value;
      if (entry) throw invalidArchive(`The archive has ${quote(entry.name)} after its manifest.`);
    },
    listFiles: () => ({ count, sha256: list.copy().digest('hex') }),
    close: async () => {
      await entries.return(undefined);
    },
  };
}

function refuseTruncated(): never {
  throw badRequest(`The archive ends without ${MANIFEST_FILE}.`, { reason: 'archive_truncated' });
}

function assertAfterAssets({ name }: TarEntry): void {
  if (name !== MANIFEST_FILE && !isCollectionPath(name))
    throw invalidArchive(`The archive has ${quote(name)}, which no export writes.`);
}

export const invalidArchive = (message: string): ServiceError =>
  badRequest(message, { reason: 'archive_invalid' });

export const archiveTooLarge = (message: string): ServiceError =>
  new ServiceError('PAYLOAD_TOO_LARGE', message, { details: { reason: 'archive_too_large' } });

const quote = (name: string): string => JSON.stringify(name);

async function* limitBytes(bytes: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let received = 0;
  for await (const chunk of bytes) {
    received += chunk.byteLength;
    if (received > maxBytes)
      throw archiveTooLarge(`The archive is larger than the maximum of ${maxBytes} bytes.`);
    yield chunk;
  }
}
