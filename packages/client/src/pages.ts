// Lists as async iterators over the items of all pages.

type Page<T> = { items: T[]; next_cursor: string | null };

/** `for await` reads page after page; `page()` returns one. */
export type PagedList<T, P extends Page<T>> = AsyncIterable<T> & {
  /** One page: the first, or that of `cursor`, which is `next_cursor` of the page before. */
  page(cursor?: string): Promise<P>;
};

export const createPagedList = <T, P extends Page<T>>(
  read: (cursor: string | undefined) => Promise<P>,
  first?: string,
): PagedList<T, P> => ({
  page: (cursor = first) => read(cursor),
  async *[Symbol.asyncIterator]() {
    let cursor: string | null | undefined = first;
    do {
      const page: P = await read(cursor);
      yield* page.items;
      cursor = page.next_cursor;
    } while (cursor !== null);
  },
});
