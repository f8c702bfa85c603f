// Reads whole files with two waits: `fstat` and `close` of an open file do not wait for the disk.
import { closeSync, fstatSync, open, read } from 'node:fs';
import { promisify } from 'node:util';

const [openFile, readFile] = [promisify(open), promisify(read)];

type OpenedFile = {
  readonly sizeBytes: number;
  /** Fills the buffer from the start of the file. */
  readonly fill: <B extends Uint8Array>(buffer: B) => Promise<B>;
};

/** Opens a file for as long as `use` takes. A FileHandle is slower than reading most segments. */
export async function withOpenFile<T>(path: string, use: (file: OpenedFile) => T | Promise<T>): Promise<T> {
  const file = await openFile(path, 'r');
  try {
    return await use({ sizeBytes: fstatSync(file).size, fill: (buffer) => fill(file, buffer) });
  } finally {
    closeSync(file);
  }
}

async function fill<B extends Uint8Array>(file: number, buffer: B): Promise<B> {
  const { bytesRead } = await readFile(file, buffer, 0, buffer.length, 0);
  if (bytesRead < buffer.length) throw new RangeError('the file ends before its length');
  return buffer;
}
