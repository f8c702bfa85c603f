// Writes a tar archive as a stream: entries one after the other, each with its SHA-256 in a list.
import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { pack } from 'tar-stream';

type Entry = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedAt: Date;
  readonly bytes: Readable;
};

export type TarWriter = {
  /** Waits while the reader of the archive is slow. Throws when it has left. */
  write(entry: Entry): Promise<FileSum>;
  writeText(path: string, text: string, modifiedAt: Date): Promise<FileSum>;
};
export type FileSum = { readonly path: string; readonly sha256: string };

/** `archive` fails when `work` fails; `done` resolves when nothing is held any more. */
export function openTar(work: (writer: TarWriter) => Promise<void>) {
  const packed = pack();
  const archive = Readable.from(packed);
  const left = new AbortController();
  archive.once('close', () => left.abort(new Error('the reader of the archive has left')));
  const writer: TarWriter = {
    write: (entry) => writeEntry(packed, entry, left.signal),
    writeText: (path, text, modifiedAt) => {
      const bytes = Buffer.from(text);
      const entry = { path, sizeBytes: bytes.length, modifiedAt, bytes: Readable.from([bytes]) };
      return writeEntry(packed, entry, left.signal);
    },
  };
  const run = async (): Promise<void> => {
    try {
      await work(writer);
      packed.finalize();
      await finished(archive);
    } catch (error) {
      archive.destroy(error instanceof Error ? error : new Error(String(error)));
      if (!archive.closed) await once(archive, 'close');
    }
  };
  return { archive, done: run() };
}

async function writeEntry(packed: ReturnType<typeof pack>, entry: Entry, signal: AbortSignal) {
  const { path, sizeBytes, modifiedAt, bytes } = entry;
  const hasher = createHash('sha256');
  try {
    signal.throwIfAborted();
    const sink = packed.entry({ name: path, size: sizeBytes, mtime: modifiedAt });
    await pipeline(bytes, hashing(hasher), sink, { signal });
  } finally {
    bytes.destroy();
  }
  return { path, sha256: hasher.digest('hex') };
}

const hashing = (hasher: Hash) =>
  new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      hasher.update(chunk);
      done(null, chunk);
    },
  });
