// Predicts an owner's list: an array in the order of creation, filtered (contract B3).
import fc from 'fast-check';

const KINDS = ['image', 'onprem', 'cdnhost'] as const;
const STATUSES = ['pending_upload', 'processing', 'failed', 'ready'] as const;
type Status = (typeof STATUSES)[number];

export type Row = {
  readonly id: string;
  readonly kind: 'image' | 'video';
  readonly provider: 'onprem' | 'cdnhost' | null;
  readonly filename: string;
  readonly created_at: string;
  title: string | null;
  tags: readonly string[];
  stream_status: Status;
  place: 'list' | 'trash' | 'nowhere';
};
export type Query = {
  readonly sort?: 'created_at' | '-created_at';
  readonly kind?: Row['kind'];
  readonly stream_status?: Status;
  readonly provider?: 'onprem' | 'cdnhost' | 'edgehost';
  readonly tag?: string;
  readonly q?: string;
  readonly deleted?: boolean;
  readonly count?: boolean;
  readonly created_after?: string;
  readonly created_before?: string;
};
type Place = { readonly after: Row | undefined; readonly limit: number };

export function foretellPage(rows: readonly Row[], query: Query, { after, limit }: Place) {
  const ordered = query.sort === 'created_at' ? rows : rows.toReversed();
  const left = ordered.slice(after ? ordered.indexOf(after) + 1 : 0).filter((row) => matches(row, query));
  return {
    items: left.slice(0, limit),
    hasMore: left.length > limit,
    ...(query.count && { total: rows.filter((row) => matches(row, query)).length }),
  };
}

function matches(
  row: Row,
  { q, tag, deleted, created_after: after, created_before: before, ...query }: Query,
): boolean {
  return (
    row.place === (deleted ? 'trash' : 'list') &&
    (['kind', 'stream_status', 'provider'] as const).every(
      (name) => query[name] === undefined || row[name] === query[name],
    ) &&
    (tag === undefined || row.tags.includes(tag)) &&
    (q === undefined ||
      [row.title ?? '', row.filename].some((text) => text.toLowerCase().includes(q.toLowerCase()))) &&
    (after === undefined || Date.parse(row.created_at) > Date.parse(after)) &&
    (before === undefined || Date.parse(row.created_at) < Date.parse(before))
  );
}

/** The furthest state wins (B6). */
export const afterReport = (status: Status, said: Status): Status =>
  STATUSES[Math.max(STATUSES.indexOf(status), STATUSES.indexOf(said))] as Status;

/** `at` picks one of the assets that were made; a moment is that of an asset, or a millisecond beside it. */
export type Step =
  | {
      readonly do: 'create';
      readonly what: (typeof KINDS)[number];
      readonly title: string | null;
      readonly filename: string;
      readonly tags: readonly string[];
    }
  | { readonly do: 'remove'; readonly at: number; readonly purge: boolean }
  | { readonly do: 'restore'; readonly at: number }
  | {
      readonly do: 'edit';
      readonly at: number;
      readonly edit: { title?: string | null; tags?: readonly string[] };
    }
  | { readonly do: 'report'; readonly at: number; readonly status: Exclude<Status, 'pending_upload'> }
  | {
      readonly do: 'ask';
      readonly query: Query;
      readonly limit: number;
      readonly from?: Moment;
      readonly to?: Moment;
    }
  | { readonly do: 'next'; readonly limit: number };
export type Moment = { readonly at: number; readonly offsetMs: number };

const is = <const T extends string>(name: T) => fc.constant(name);
/** Letters with two cases, what LIKE reads as a pattern, and what other languages read as their own. */
const text = (limits: fc.ArrayConstraints) =>
  fc
    .array(fc.constantFrom('a', 'A', 'é', 'É', 'ß', '日', '%', '_', '\\', ' ', "'", '"', '.'), limits)
    .map((all) => all.join(''));
const title = fc.option(text({ maxLength: 5 }));
const tags = fc.uniqueArray(fc.constantFrom('a', 'A', 'b', 'ü', '{a,b}', 'null', '\'"\\'), { maxLength: 3 });
const at = fc.nat({ max: 30 });
const moment = fc.record({ at, offsetMs: fc.integer({ min: -1, max: 1 }) });
const limit = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 4 }) },
  { weight: 1, arbitrary: fc.integer({ min: 5, max: 200 }) },
);
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const query = fc
  .record({
    sort: fc.constantFrom(undefined, 'created_at' as const, '-created_at' as const),
    deleted: seldom(fc.boolean()),
    count: fc.boolean(),
    kind: seldom(fc.constantFrom('image' as const, 'video' as const)),
    stream_status: seldom(fc.constantFrom(...STATUSES)),
    provider: seldom(fc.constantFrom('onprem' as const, 'cdnhost' as const, 'edgehost' as const)),
    tag: seldom(fc.constantFrom('a', 'A', '{a,b}', 'b', '\'"\\')),
    q: seldom(text({ minLength: 1, maxLength: 3 })),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Query);

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: is('create'),
      what: fc.constantFrom(...KINDS),
      title,
      filename: text({ maxLength: 3 }).map((name) => `${name}.Mp4`),
      tags,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: is('remove'), at, purge: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: is('restore'), at }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: is('edit'), at, edit: fc.record({ title, tags }, { requiredKeys: [] }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: is('report'),
      at,
      status: fc.constantFrom('processing' as const, 'failed' as const, 'ready' as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record(
      { do: is('ask'), query, limit, from: moment, to: moment },
      { requiredKeys: ['do', 'query', 'limit'] },
    ),
  },
  { weight: 5, arbitrary: fc.record({ do: is('next'), limit }) },
);
