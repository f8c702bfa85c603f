// Reads a tar archive (ustar) as a stream. Plain files only: no links, no long names, nothing in memory.
import { createHash } from 'node:crypto';
import { badRequest, ServiceError } from '../http/errors.ts';

export type TarEntry = {
  /** Text of the archive: never a path on a disk. */
  readonly name: string;
  readonly sizeBytes: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Reads the rest of the bytes. Returns the SHA-256 of all. */
  readonly finish: () => Promise<string>;
};

const BLOCK = 512;
/** After the end of an archive, tar programs pad it with zeros. */
const MAX_TRAILING_BYTES = 1024 * 1024;

const TRUNCATED = { reason: 'archive_truncated' } as const;
const invalid = (message: string): ServiceError => badRequest(message, { reason: 'archive_invalid' });

/**
 * Throws BAD_REQUEST `archive_truncated` or `archive_invalid`. Each entry ends when the next one is
 * requested. tar-stream would read names of any length into memory.
 */
export async function* readTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = createByteReader(source);
  try {
    for (;;) {
      const header = parseHeader(await reader.read(BLOCK));
      if (!header) break;
      const entry = openEntry(reader, header);
      yield entry;
      await entry.finish();
      await reader.read((BLOCK - (header.sizeBytes % BLOCK)) % BLOCK);
    }
    if (parseHeader(await reader.read(BLOCK))) throw invalid('The archive goes on after its end.');
    await reader.skip(MAX_TRAILING_BYTES);
  } finally {
    await reader.close();
  }
}

type Header = Pick<TarEntry, 'name' | 'sizeBytes'>;

function openEntry(reader: ByteReader, { name, sizeBytes }: Header): TarEntry {
  const hasher = createHash('sha256');
  let left = sizeBytes;
  async function* read() {
    while (left > 0) {
      const chunk = await reader.next(left);
      left -= chunk.length;
      hasher.update(chunk);
      yield chunk;
    }
  }
  let sha256: string | undefined;
  const finish = async () => {
    for await (const _chunk of read());
    sha256 ??= hasher.digest('hex');
    return sha256;
  };
  return { name, sizeBytes, bytes: read(), finish };
}

type ByteReader = ReturnType<typeof createByteReader>;

const EMPTY = new Uint8Array();

function createByteReader(source: AsyncIterable<Uint8Array>) {
  const iterator = source[Symbol.asyncIterator]();
  let rest: Uint8Array = EMPTY;
  /** Undefined at the end of the source. */
  const take = async (max: number): Promise<Uint8Array | undefined> => {
    while (rest.length === 0) {
      const { done, value } = await pull(iterator);
      if (done) return undefined;
      rest = value;
    }
    const chunk = rest.subarray(0, max);
    rest = rest.subarray(chunk.length);
    return chunk;
  };
  const next = async (max: number): Promise<Uint8Array> => {
    const chunk = await take(max);
    if (chunk) return chunk;
    throw badRequest('The archive ends early.', TRUNCATED);
  };
  return {
    /** The next bytes, at most `max`. Throws at the end. */
    next,
    read: async (length: number): Promise<Buffer> => {
      const bytes = Buffer.alloc(length);
      for (let at = 0; at < length; ) {
        const chunk = await next(length - at);
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    },
    /** Reads the rest, if it is not longer than `max`. */
    skip: async (max: number): Promise<void> => {
      for (let left = max; left > 0; ) {
        const chunk = await take(left);
        if (!chunk) return;
        left -= chunk.length;
      }
    },
    close: async (): Promise<void> => {
      await iterator.return?.();
    },
  };
}

/** A connection that breaks ends the archive early. */
async function pull(iterator: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await iterator.next();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ECONNRESET') throw cause;
    throw new ServiceError('BAD_REQUEST', 'The connection broke before the end of the archive.', {
      details: TRUNCATED,
      cause,
    });
  }
}

const FIELDS = {
  name: [0, 100],
  size: [124, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const satisfies Readonly<Record<string, readonly [start: number, length: number]>>;

const MAGIC = 'ustar\x0000';
const PLAIN_FILE = ['0', '\0'];

/** Undefined for a block of zeros, which ends the archive. */
function parseHeader(block: Buffer): Header | undefined {
  if (block.every((byte) => byte === 0)) return undefined;
  if (fieldOf(block, 'magic').toString('latin1') !== MAGIC)
    throw invalid('The file is not a tar archive in the format "ustar".');
  if (parseOctal(fieldOf(block, 'checksum')) !== sumOf(block))
    throw invalid('The header of an entry in the archive is damaged.');
  const prefix = textOf(fieldOf(block, 'prefix'));
  const name = prefix === '' ? textOf(fieldOf(block, 'name')) : `${prefix}/${textOf(fieldOf(block, 'name'))}`;
  if (!PLAIN_FILE.includes(fieldOf(block, 'type').toString('latin1')))
    throw invalid(`The entry ${JSON.stringify(name)} is not a plain file.`);
  return { name, sizeBytes: parseSize(fieldOf(block, 'size')) };
}

function fieldOf(block: Buffer, field: keyof typeof FIELDS): Buffer {
  const [start, length] = FIELDS[field];
  return block.subarray(start, start + length);
}

const textOf = (field: Buffer): string => {
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? field.length : end).toString('latin1');
};

/** The bytes of the header, with blanks in place of the checksum. */
function sumOf(block: Buffer): number {
  const [start, length] = FIELDS.checksum;
  return block.reduce((sum, byte, at) => sum + (at >= start && at < start + length ? 32 : byte), 0);
}

const OCTAL = /^[ \0]*([0-7]+)[ \0]*$/;

function parseOctal(field: Buffer): number {
  return Number.parseInt(OCTAL.exec(field.toString('latin1'))?.[1] ?? '', 8);
}

/** The top bit marks a binary number, which sizes of 8 GiB and more need. */
function parseSize(field: Buffer): number {
  const isBinary = field[0] === 0x80;
  const size = isBinary ? Number(BigInt(`0x${field.subarray(1).toString('hex')}`)) : parseOctal(field);
  if (Number.isSafeInteger(size)) return size;
  throw invalid('The header of an entry in the archive has an invalid size.');
}
