// Gives mediabunny the bytes of a video. Of a long film the index alone has more bytes than the budget: then
// its tables of frames are left out, and what remains has the tracks, their sizes and their duration.
import { CustomSource } from 'mediabunny';
import type { BoundedReader } from './bounded-reader.ts';
import { type Box, readBoxes } from './boxes.ts';

type MovieSource = {
  readonly source: CustomSource;
  /** True if the source shows tables of frames without entries. */
  readonly lacksFrames: boolean;
};

/** The rest of the budget is for the head, the end and a picture. */
const MAX_INDEX_BYTES = 2 * 1024 ** 2;
/** Smaller tables are read. */
const MIN_TABLE_BYTES = 4 * 1024;
const PARENTS = ['trak', 'mdia', 'minf', 'stbl'];
const FRAME_TABLES = ['stts', 'ctts', 'stsc', 'stsz', 'stz2', 'stco', 'co64', 'stss', 'sdtp', 'sbgp', 'saio'];

export async function openMovieSource(reader: BoundedReader, hasIndex: boolean): Promise<MovieSource> {
  const tables = hasIndex ? await findLongTables(reader) : [];
  const source = new CustomSource({
    getSize: () => reader.sizeBytes,
    read: (start, end) => readAround(reader, tables, { start, end }),
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => {}, // errors of prefetches; the actual read fails again
  });
  return { source, lacksFrames: tables.length > 0 };
}

async function findLongTables(reader: BoundedReader): Promise<readonly Box[]> {
  try {
    for await (const box of readBoxes(reader, 0, reader.sizeBytes)) {
      if (box.type !== 'moov') continue;
      return box.end - box.start > MAX_INDEX_BYTES ? await listTables(reader, box) : [];
    }
  } catch {
    // mediabunny meets the same error, or finds its way.
  }
  return [];
}

async function listTables(reader: BoundedReader, parent: Box): Promise<readonly Box[]> {
  const tables: Box[] = [];
  for await (const box of readBoxes(reader, parent.start, parent.end)) {
    if (PARENTS.includes(box.type)) tables.push(...(await listTables(reader, box)));
    if (FRAME_TABLES.includes(box.type) && box.end - box.start > MIN_TABLE_BYTES) tables.push(box);
  }
  return tables;
}

type Range = { readonly start: number; readonly end: number };

/** Zeros stand for the content of the tables, which then have no entries. `tables` are in order. */
async function readAround(
  reader: BoundedReader,
  tables: readonly Range[],
  { start, end }: Range,
): Promise<Uint8Array> {
  const inside = tables.filter((table) => table.start < end && table.end > start);
  if (inside.length === 0) return reader.read(start, end);
  const bytes = new Uint8Array(end - start);
  let at = start;
  for (const table of [...inside, { start: end, end }]) {
    if (table.start > at) bytes.set(await reader.read(at, table.start), at - start);
    at = Math.max(at, table.end);
  }
  return bytes;
}
