// Reads what tar-stream writes, however the bytes are cut, and refuses everything that is no plain file.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { type Headers, pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { ServiceError } from '../http/errors.ts';
import { readTar } from './tar-reader.ts';

type Written = Partial<Headers> & {
  readonly name: string;
  readonly text?: string;
  readonly pax?: Readonly<Record<string, string>>;
};

function write(...entries: readonly Written[]): Promise<Buffer> {
  const packed = pack();
  for (const { text = '', ...header } of entries) packed.entry(header, text);
  packed.finalize();
  return buffer(packed);
}

async function* cut(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function readAll(bytes: Uint8Array, chunk = 4096) {
  const files: { name: string; text: string; sha256: string }[] = [];
  for await (const { name, bytes: content, finish } of readTar(cut(bytes, chunk))) {
    const text = (await buffer(content)).toString();
    files.push({ name, text, sha256: await finish() });
  }
  return files;
}

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
const reasonOf = (bytes: Uint8Array): Promise<unknown> =>
  readAll(bytes).then(
    () => undefined,
    (error: unknown) => (error instanceof ServiceError ? error.details?.reason : error),
  );

const FILES: readonly (Written & { readonly text: string })[] = [
  { name: 'a', text: 'first' },
  { name: 'empty', text: '' },
  { name: `${'folder/'.repeat(20)}block`, text: 'x'.repeat(512) },
  { name: 'last', text: 'y'.repeat(9_000) },
];
const EXPECTED = FILES.map(({ name, text }) => ({ name, text, sha256: sha256Of(text) }));

test.each([1, 7, 512, 513, 1_000_000])('chunks of %i bytes', async (chunk) => {
  expect(await readAll(await write(...FILES), chunk)).toEqual(EXPECTED);
});

test('files that nobody reads to their end have their checksum, and the next file follows', async () => {
  const sums: string[] = [];
  for await (const { bytes, finish } of readTar(cut(await write(...FILES), 100))) {
    for await (const _chunk of bytes) break;
    sums.push(await finish());
  }
  expect(sums).toEqual(EXPECTED.map(({ sha256 }) => sha256));
});

test('a size of 8 GiB and more is a binary number', async () => {
  const packed = pack();
  packed.entry({ name: 'large', size: 9 * 1024 ** 3 });
  const [header] = (await once(packed, 'data')) as [Buffer];
  const { value } = await readTar(cut(header, 512)).next();
  expect(value).toMatchObject({ name: 'large', sizeBytes: 9 * 1024 ** 3 });
});

test('zeros behind the end are padding, and the source is closed', async () => {
  let isClosed = false;
  async function* source() {
    try {
      yield* cut(Buffer.concat([await write(...FILES), Buffer.alloc(8192)]), 1000);
    } finally {
      isClosed = true;
    }
  }
  const names: string[] = [];
  for await (const { name } of readTar(source())) names.push(name);
  expect(names).toEqual(FILES.map(({ name }) => name));
  expect(isClosed).toBe(true);
});

test('every cut through the archive is an archive that ends early', async () => {
  const whole = await write({ name: 'a', text: 'first' }, { name: 'b', text: 'x'.repeat(600) });
  for (let end = 0; end < whole.length; end += 37)
    expect(await reasonOf(whole.subarray(0, end)), `${end}`).toBe('archive_truncated');
});

test('a connection that breaks ends the archive early; other errors of the source stay', async () => {
  async function* broken(error: Error): AsyncGenerator<Uint8Array> {
    yield (await write(...FILES)).subarray(0, 700);
    throw error;
  }
  const read = async (error: Error) => {
    for await (const { finish } of readTar(broken(error))) await finish();
  };
  const reset = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
  await expect(read(reset)).rejects.toMatchObject({ details: { reason: 'archive_truncated' } });
  const fault = new Error('fault');
  await expect(read(fault)).rejects.toBe(fault);
});

describe('what is no plain file', () => {
  const LINK = { linkname: '/etc/passwd' };
  test.each<Written>([
    { name: 'symbolic', type: 'symlink', ...LINK },
    { name: 'hard', type: 'link', ...LINK },
    { name: 'folder', type: 'directory' },
    { name: 'device', type: 'character-device' },
    { name: 'pipe', type: 'fifo' },
    { name: 'x'.repeat(300) },
    { name: 'ünïcode' },
    { name: 'pax', pax: { size: '1' } },
  ])('$type $name', async (entry) => {
    expect(await reasonOf(await write({ name: 'a' }, entry))).toBe('archive_invalid');
  });
});

describe('a damaged header', () => {
  test.each([
    ['its checksum', 150],
    ['its name', 3],
    ['its size', 130],
    ['its format', 258],
  ])('%s', async (_what, at) => {
    const bytes = await write({ name: 'file', text: 'text' });
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    expect(await reasonOf(bytes)).toBe('archive_invalid');
  });

  test('one more file behind the first block of zeros', async () => {
    const bytes = await write({ name: 'file', text: 'text' });
    const hidden = Buffer.concat([bytes.subarray(0, 1536), bytes]);
    expect(await reasonOf(hidden)).toBe('archive_invalid');
  });
});
