// Tests how many bytes an inspection reads of large files, and what it tells of them.
import { openAsBlob } from 'node:fs';
import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../../../test/support/clips/clips.ts';
import { listBoxes } from './boxes.ts';
import { inspectFile } from './inspect-file.ts';

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;
const BUDGET = 4 * MIB;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-inspect-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type CountedFile = { readonly file: Blob; readonly bytesRead: () => number };

/** A file that counts the bytes that are read of it, in slices alone. */
function countReads(size: number, read: (start: number, end: number) => Promise<ArrayBuffer>): CountedFile {
  let bytes = 0;
  const slice = (start: number, end: number) => ({
    arrayBuffer: () => {
      bytes += end - start;
      return read(start, end);
    },
  });
  const file = Object.defineProperties(new Blob([]), { size: { value: size }, slice: { value: slice } });
  return { file, bytesRead: () => bytes };
}

async function openBlob(path: string): Promise<CountedFile> {
  const blob = await openAsBlob(path);
  return countReads(blob.size, (start, end) => blob.slice(start, end).arrayBuffer());
}

/** `openAsBlob` has wrong sizes from 2 GiB on (nodejs/node#52585); browsers have no such limit. */
async function openLarge(path: string): Promise<CountedFile> {
  const { size } = await stat(path);
  return countReads(size, async (start, end) => {
    await using handle = await open(path);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(end - start), 0, end - start, start);
    return new Uint8Array(buffer.subarray(0, bytesRead)).buffer;
  });
}

const INDEX = 'moov';
const PARENTS = ['trak', 'mdia', 'minf', 'stbl'];
const TABLES = ['stts', 'stsz', 'stsc', 'stco', 'ctts'];

/** The index of a film with many frames: each table of frames has more bytes. */
function padTables(box: Uint8Array, padding: number): Buffer {
  const type = Buffer.from(box).toString('latin1', 4, 8);
  const content =
    PARENTS.includes(type) || type === INDEX
      ? Buffer.concat(
          listBoxes(box, 8, box.length).map(({ at, end }) => padTables(box.subarray(at, end), padding)),
        )
      : Buffer.concat([box.subarray(8), Buffer.alloc(TABLES.includes(type) ? padding : 0)]);
  const header = Buffer.from(box.subarray(0, 8));
  header.writeUInt32BE(8 + content.length);
  return Buffer.concat([header, content]);
}

/** A file with a hole in the place of its pictures; the index is at its end. Returns its path. */
async function createFilm(name: string, sizeBytes: number, padding = 0): Promise<string> {
  const clip = await readFile(await makeClip({ container: 'mp4' }));
  const boxes = listBoxes(clip, 0, clip.length);
  const [pictures, index] = ['mdat', INDEX].map((type) => boxes.find((box) => box.type === type));
  if (!pictures || !index) throw new Error('the clip has another form');
  // ffmpeg leaves eight bytes before the pictures, so that their box can have a size of 64 bits.
  const head = Buffer.from(clip.subarray(0, pictures.end));
  const at = pictures.at - 8;
  head.writeUInt32BE(1, at);
  head.write('mdat', at + 4, 'latin1');
  head.writeBigUInt64BE(BigInt(sizeBytes - at), at + 8);
  const path = join(folder, name);
  await using file = await open(path, 'w');
  await file.write(head, 0, head.length, 0);
  const end = padTables(clip.subarray(index.at, index.end), padding);
  await file.write(end, 0, end.length, sizeBytes);
  return path;
}

const limits = { maxBytes: 20 * GIB };
const FILM = {
  container: 'mov',
  width: 320,
  height: 180,
  duration_ms: 2000,
  video: { codec: 'h264', fps: 30 },
  audio: [{ codec: 'aac' }],
  refusals: [],
  is_complete: true,
};

describe('of a file of 10 GiB, an inspection reads at most 4 MiB', () => {
  test('and tells everything, where its index is short', async () => {
    const { file, bytesRead } = await openLarge(await createFilm('film.mp4', 10 * GIB));
    expect(file.size).toBeGreaterThan(10 * GIB);
    expect(await inspectFile(file, { limits })).toMatchObject(FILM);
    expect(bytesRead()).toBeLessThan(BUDGET);
  });

  test('and tells size, duration and codecs, where its index alone has more', async () => {
    const { file, bytesRead } = await openLarge(await createFilm('long-film.mp4', 10 * GIB, 2 * MIB));
    const found = await inspectFile(file, { limits: { ...limits, maxDurationSeconds: 1 } });
    const video = { codec: 'h264', fps: null };
    const duration_ms = expect.closeTo(2000, -2); // by the header
    const refusals = [{ code: 'too_long' }];
    expect(found).toMatchObject({ ...FILM, video, duration_ms, refusals, is_complete: false });
    expect(bytesRead()).toBeLessThan(BUDGET);
  });

  test.each(['mkv', 'webm', 'ts'] as const)(
    'and refuses no %s for what it has not read',
    async (container) => {
      const path = join(folder, `film.${container}`);
      await writeFile(path, await readFile(await makeClip({ container })));
      await truncate(path, 10 * GIB);
      const { file, bytesRead } = await openLarge(path);
      expect((await inspectFile(file, { limits })).refusals).toEqual([]);
      expect(bytesRead()).toBeLessThanOrEqual(BUDGET);
    },
  );

  test('and as many of a file that Node has opened', async () => {
    const { file, bytesRead } = await openBlob(await createFilm('blob.mp4', 2 * GIB - MIB));
    expect(await inspectFile(file, {})).toMatchObject(FILM);
    expect(bytesRead()).toBeLessThan(BUDGET);
  });
});
