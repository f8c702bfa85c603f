// The pages of a list around those in view: others are released, and read again when they come into view.
import type { Asset, AssetPage } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { hashKey, type QueryClient, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { type AssetFilters, assetPageQuery, knownPagesQuery } from '../../../api/assets.ts';
import {
  countReadSlots,
  countSlots,
  knownIndexes,
  type KnownPages,
  linkPage,
  PAGE_SIZE,
  pageOf,
} from '../../../api/known-pages.ts';

export type AssetList = {
  /** Places in the list, also of assets that are not read yet. */
  readonly slots: number;
  /** Of these, the places in pages that were read at some time. */
  readonly readSlots: number;
  readonly findAsset: (slot: number) => Asset | undefined;
  /** The first and the last place in view. */
  readonly show: (first: number, last: number) => void;
  /** Reads the assets from one place to another. */
  readonly readRange: (first: number, last: number) => Promise<readonly Asset[]>;
  readonly isEmpty: boolean;
  readonly error: unknown;
  readonly refetch: () => void;
};

type PageRange = { readonly first: number; readonly last: number };
const TOP: PageRange = { first: 0, last: 0 };

/** Places below the view whose page is read already. */
const SLOTS_AHEAD = 40;
/** Pages around the view that stay in memory. */
const KEPT_AROUND = 5;

export function useAssetList(session: ConsoleSession, filters: AssetFilters): AssetList {
  const queries = useQueryClient();
  const { data: known } = useQuery(knownPagesQuery(filters));
  const [range, setRange] = useState(TOP);
  const indexes = knownIndexes(known, range.first, range.last);
  const pages = useQueries({
    queries: indexes.map((index) => assetPageQuery(session, filters, known.starts[index])),
  });
  const data = pages.map((page) => page.data);
  const [start = 0] = indexes;
  useEffect(() => {
    let linked = known;
    for (const [place, page] of data.entries()) if (page) linked = linkPage(linked, start + place, page);
    if (linked === known) return;
    keepUntilRead({ queries, session, filters }, known, linked);
    queries.setQueryData(knownPagesQuery(filters).queryKey, linked);
  });
  useEffect(
    () => releasePages({ queries, session, filters }, known.starts.slice(...around(range))),
    [queries, session, filters, known, range],
  );
  const slots = countSlots(known);
  const show = useCallback(
    (first: number, last: number) => setRange((current) => toRange(current, first, last)),
    [],
  );
  return {
    slots,
    readSlots: countReadSlots(known),
    show,
    findAsset: (slot) => data[pageOf(slot) - start]?.items[slot % PAGE_SIZE],
    readRange: (first, last) => readRange({ queries, session, filters }, known, [first, last]),
    isEmpty: slots === 0,
    error: pages.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      for (const { refetch } of pages) void refetch();
    },
  };
}

/** The same object for the same pages. */
function toRange(current: PageRange, firstSlot: number, lastSlot: number): PageRange {
  const first = pageOf(firstSlot);
  const last = pageOf(lastSlot + SLOTS_AHEAD);
  return first === current.first && last === current.last ? current : { first, last };
}

const around = ({ first, last }: PageRange): [number, number] => [
  Math.max(0, first - KEPT_AROUND),
  last + KEPT_AROUND + 1,
];

function releasePages({ queries, session, filters }: ListContext, kept: KnownPages['starts']): void {
  const keptHashes = new Set(kept.map((start) => hashKey(assetPageQuery(session, filters, start).queryKey)));
  const list = hashKey([filters]);
  queries.removeQueries({
    queryKey: ['assets', 'list'],
    type: 'inactive',
    predicate: ({ queryKey, queryHash }) => hashKey([queryKey[2]]) === list && !keptHashes.has(queryHash),
  });
}

type ListContext = {
  readonly queries: QueryClient;
  readonly session: ConsoleSession;
  readonly filters: AssetFilters;
};

/** A page that moved shows what it had, until it is read again. */
function keepUntilRead(
  { queries, session, filters }: ListContext,
  before: KnownPages,
  after: KnownPages,
): void {
  for (const [index, start] of after.starts.entries()) {
    if (start === before.starts[index]) continue;
    const [from, to] = [before.starts[index], start].map(
      (each) => assetPageQuery(session, filters, each).queryKey,
    );
    const page = index in before.starts && from ? queries.getQueryData<AssetPage>(from) : undefined;
    if (page && to && queries.getQueryData(to) === undefined)
      queries.setQueryData(to, page, { updatedAt: 1 });
  }
}

async function readRange(
  { queries, session, filters }: ListContext,
  known: KnownPages,
  [first, last]: readonly [number, number],
): Promise<readonly Asset[]> {
  const assets: Asset[] = [];
  for (const index of knownIndexes(known, pageOf(first), pageOf(last))) {
    const query = assetPageQuery(session, filters, known.starts[index]);
    const page = queries.getQueryData<AssetPage>(query.queryKey) ?? (await queries.fetchQuery(query));
    const offset = index * PAGE_SIZE;
    assets.push(...page.items.filter((_, place) => offset + place >= first && offset + place <= last));
  }
  return assets;
}
