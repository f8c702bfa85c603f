// Writes a stream of known length to a new scratch file, and computes its SHA-256 on the way; reads files.
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { unavailable } from '../http/errors.ts';
import { diskFull, freeBytes, isNoSpace } from '../disk/free-space.ts';

type ScratchFile = {
  readonly path: string;
  readonly sizeBytes: number;
  /** Stays free on the disk of the scratch folder. */
  readonly minFreeBytes: number;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Returns the lower-case hex SHA-256. Removes the file, and throws UNAVAILABLE, when the disk has too little
 * space or the stream has another length.
 */
export async function writeScratchFile(
  openStream: () => Readable,
  { path, sizeBytes, minFreeBytes, signal }: ScratchFile,
): Promise<string> {
  if ((await freeBytes(dirname(path))) < sizeBytes + minFreeBytes) throw diskFull('scratch folder');
  signal?.throwIfAborted();
  // The loop below throws the error; without a listener one before the loop would end the process.
  const stream = openStream().on('error', () => {});
  if (signal) addAbortSignal(signal, stream);
  const digest = createHash('sha256');
  let written = 0;
  async function* measured(): AsyncGenerator<Uint8Array> {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      written += chunk.byteLength;
      if (written > sizeBytes) break;
      digest.update(chunk);
      yield chunk;
    }
  }
  try {
    await writeFile(path, measured(), { flag: 'wx', mode: 0o600 });
    if (written !== sizeBytes) throw unavailable('The object store sent another length than it announced');
    return digest.digest('hex');
  } catch (error) {
    await rm(path, { force: true });
    throw isNoSpace(error) ? diskFull('scratch folder', error) : error;
  }
}

export const readScratchFile = (path: string): Promise<Uint8Array> => readFile(path);
