// Files of a disk as blobs, for uploads from Node.
import { createReadStream, openAsBlob, type Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { arrayBuffer, text } from 'node:stream/consumers';

/** From 2 GiB on, blobs of `openAsBlob` have wrong sizes: 5 GiB become 1 GiB (nodejs/node#52585). */
const MAX_OPEN_AS_BLOB = 2 ** 31 - 1;

type FilePart = { readonly path: string; readonly file: Stats; readonly start: number; readonly end: number };

/**
 * The file as a blob of any size, for `media.upload` and `media.inspect`. Its bytes are read when they are
 * sent, and never held in memory. `type`: its media type, '' by default.
 *
 * Errors: those of `stat`, such as ENOENT. Reading rejects once the file has changed.
 */
export async function openFile(path: string, { type = '' }: { readonly type?: string } = {}): Promise<Blob> {
  const file = await stat(path);
  if (!file.isFile()) throw new TypeError(`${path} is not a file`);
  if (file.size <= MAX_OPEN_AS_BLOB) return openAsBlob(path, { type });
  return toBlob({ path, file, start: 0, end: file.size }, type);
}

/** A blob whose members read the file, so that `instanceof Blob` holds. */
function toBlob(part: FilePart, type: string): Blob {
  const { start, end } = part;
  const size = end - start;
  const slice = (from?: number, to?: number, sliceType = ''): Blob => {
    const first = start + toOffset(from ?? 0, size);
    return toBlob(
      { ...part, start: first, end: Math.max(first, start + toOffset(to ?? size, size)) },
      sliceType,
    );
  };
  return Object.defineProperties(new Blob([], { type }), {
    size: { value: size },
    slice: { value: slice },
    stream: { value: () => Readable.toWeb(Readable.from(readPart(part))) },
    arrayBuffer: { value: () => arrayBuffer(readPart(part)) },
    bytes: { value: async () => new Uint8Array(await arrayBuffer(readPart(part))) },
    text: { value: () => text(readPart(part)) },
  });
}

/** As `slice` of blobs counts: from the end if negative, and inside the blob. */
const toOffset = (position: number, size: number): number =>
  position < 0 ? Math.max(0, size + position) : Math.min(position, size);

async function* readPart({ path, file, start, end }: FilePart): AsyncGenerator<Buffer> {
  if (start === end) return;
  const now = await stat(path);
  if (now.size !== file.size || now.mtimeMs !== file.mtimeMs)
    throw new DOMException(`${path} was changed after it was opened`, 'NotReadableError');
  yield* createReadStream(path, { start, end: end - 1 });
}
