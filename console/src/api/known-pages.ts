// The pages of a list that were read so far, as the cursors at which they start.
export const PAGE_SIZE = 60;

/** Undefined: the start of the list, which has no cursor. */
type PageStart = string | undefined;

export type KnownPages = {
  readonly starts: readonly PageStart[];
  /** Items of the last page; undefined while more pages may follow it. */
  readonly lastCount: number | undefined;
};

/** The first page of every list is known before it is read. */
export const FIRST_PAGE: KnownPages = { starts: [undefined], lastCount: undefined };

type ReadPage = { readonly items: readonly unknown[]; readonly next_cursor: string | null };

/**
 * Adds what a page says about the one after it. Pages further on keep their cursors: each is corrected when
 * the page before it is read again.
 */
export function linkPage(
  known: KnownPages,
  index: number,
  { items, next_cursor: next }: ReadPage,
): KnownPages {
  const { starts, lastCount } = known;
  if (next === null) {
    const isSame = starts.length === index + 1 && lastCount === items.length;
    return isSame ? known : { starts: starts.slice(0, index + 1), lastCount: items.length };
  }
  if (starts[index + 1] === next) return known;
  const isLast = index + 1 >= starts.length;
  return {
    starts: [...starts.slice(0, index + 1), next, ...starts.slice(index + 2)],
    lastCount: isLast ? undefined : lastCount,
  };
}

/** Places of items, also of those that are not read: a page that was not read yet counts as full. */
export const countSlots = ({ starts, lastCount = PAGE_SIZE }: KnownPages): number =>
  (starts.length - 1) * PAGE_SIZE + lastCount;

/** Places of items that were read. */
export const countReadSlots = ({ starts, lastCount = 0 }: KnownPages): number =>
  (starts.length - 1) * PAGE_SIZE + lastCount;

export const pageOf = (slot: number): number => Math.floor(slot / PAGE_SIZE);

/** The numbers of the pages from `first` to `last` that are known. */
export function knownIndexes({ starts }: KnownPages, first: number, last: number): number[] {
  const from = Math.max(0, Math.min(first, starts.length - 1));
  const to = Math.max(from, Math.min(last, starts.length - 1));
  return Array.from({ length: to - from + 1 }, (_, offset) => from + offset);
}
