// Reads ranges of a file, keeps them, and reads no more bytes than its budget allows.
import { MediaryError } from '../errors.ts';

export type BoundedReader = {
  readonly sizeBytes: number;
  /** `end` is exclusive; the result ends with the file. Rejects where the budget does not allow the range. */
  read(start: number, end: number): Promise<Uint8Array>;
  /** True once a range was not read because of the budget. */
  isExhausted(): boolean;
  /** Throws the error of a file that cannot be read, or the reason of an aborted signal. */
  throwIfFailed(): void;
};

const MAX_BYTES = 4 * 1024 ** 2;
/** Parsers and mediabunny read neighbouring ranges again and again. */
const PAGE_BYTES = 64 * 1024;

type Pages = Map<number, Uint8Array>;

export function openBoundedReader(file: Blob, signal: AbortSignal | undefined): BoundedReader {
  const pages: Pages = new Map();
  let remaining = MAX_BYTES;
  let isExhausted = false;
  let failure: { readonly error: unknown } | undefined;

  async function fetchPages(first: number, last: number): Promise<void> {
    const start = first * PAGE_BYTES;
    const end = Math.min(file.size, last * PAGE_BYTES + PAGE_BYTES);
    if (end - start > remaining) {
      isExhausted = true;
      throw new Error('the inspection exceeds its read budget');
    }
    remaining -= end - start;
    const bytes = await readBlob(file, start, end).catch((error: unknown) => {
      failure ??= { error };
      throw error;
    });
    for (let page = first; page <= last; page += 1)
      pages.set(page, bytes.subarray((page - first) * PAGE_BYTES, (page - first + 1) * PAGE_BYTES));
  }

  return {
    sizeBytes: file.size,
    async read(start, wantedEnd) {
      if (signal?.aborted) failure ??= { error: signal.reason };
      if (failure) throw failure.error;
      const end = Math.min(wantedEnd, file.size);
      if (end <= start) return new Uint8Array();
      for (const [first, last] of findMissing(pages, start, end)) await fetchPages(first, last);
      return joinPages(pages, start, end);
    },
    isExhausted: () => isExhausted,
    throwIfFailed() {
      if (failure) throw failure.error;
    },
  };
}

/** Ranges of pages that are not kept. */
function findMissing(pages: Pages, start: number, end: number): [first: number, last: number][] {
  const ranges: [first: number, last: number][] = [];
  for (let page = Math.floor(start / PAGE_BYTES); page * PAGE_BYTES < end; page += 1) {
    const range = ranges.at(-1);
    if (pages.has(page)) continue;
    if (range?.[1] === page - 1) range[1] = page;
    else ranges.push([page, page]);
  }
  return ranges;
}

function joinPages(pages: Pages, start: number, end: number): Uint8Array {
  const joined = new Uint8Array(end - start);
  for (let page = Math.floor(start / PAGE_BYTES); page * PAGE_BYTES < end; page += 1) {
    const pageStart = page * PAGE_BYTES;
    const from = Math.max(start, pageStart);
    const bytes = pages.get(page)?.subarray(from - pageStart, Math.max(0, end - pageStart));
    if (bytes) joined.set(bytes, from - start);
  }
  return joined;
}

/** A browser refuses to read a file that was changed or removed after it was chosen. */
async function readBlob(file: Blob, start: number, end: number): Promise<Uint8Array> {
  const bytes = await file
    .slice(start, end)
    .arrayBuffer()
    .catch((cause: unknown) => {
      throw unreadable(cause);
    });
  if (bytes.byteLength !== end - start) throw unreadable(undefined);
  return new Uint8Array(bytes);
}

const unreadable = (cause: unknown): MediaryError =>
  new MediaryError(
    'The file cannot be read. It was changed or removed after it was chosen: choose it again.',
    {
      errorCode: 'FILE_UNREADABLE',
      cause,
    },
  );
