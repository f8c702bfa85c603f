// Reads whole files with few waits: `fstat` and `close` of an open file do not wait for the disk.
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
    return await use({ sizeBytes: fstatSync(file).size, fill: (buffer) => fill(file, buffer, 0) });
  } finally {
    closeSync(file);
  }
}

const CHUNK_BYTES = 512 * 1024;

/** Yields a file of this size in chunks. They share memory: each is valid until the next is requested. */
export async function* readChunks(path: string, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(Math.min(sizeBytes, CHUNK_BYTES));
  const file = await openFile(path, 'r');
  try {
    for (let start = 0; start < sizeBytes; start += CHUNK_BYTES)
      yield await fill(file, memory.subarray(0, sizeBytes - start), start);
  } finally {
    closeSync(file);
    // Frees the memory now: waiting for the garbage collector would make it run more often.
    memory.buffer.transfer(0);
  }
}

async function fill<B extends Uint8Array>(file: number, buffer: B, start: number): Promise<B> {
  const { bytesRead } = await readFile(file, buffer, 0, buffer.length, start);
  if (bytesRead < buffer.length) throw new RangeError('the file ends before its length');
  return buffer;
}
