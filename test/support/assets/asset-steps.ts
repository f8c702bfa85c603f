// Random commands on a few assets by their owner, another user, a back end and three providers.
import fc from 'fast-check';

export type By = 'owner' | 'other' | 'service';
export type IfMatch = 'nothing' | 'current' | 'any' | 'older' | 'newer';

export type Create = {
  readonly do: 'create';
  readonly kind: 'image' | 'onprem' | 'cdnhost' | 'edgehost';
  readonly by: 'owner' | 'service';
  readonly title: string | null;
  /** What upload-url is told of the bytes: nothing, their number, or their digest too. */
  readonly announces: 'nothing' | 'size' | 'digest';
  /** For hosted assets: which of the provider's videos. */
  readonly video: number;
};
export type Report = {
  readonly do: 'report';
  readonly provider: 'onprem' | 'cdnhost' | 'edgehost';
  readonly isSigned: boolean;
  readonly isOfOtherLibrary?: boolean;
  /** The asset, or the provider's video. */
  readonly at: number;
  readonly says: 'processing' | 'failed' | 'ready' | 'nothing';
  /** The attempt that it names, counted from the asset's own; absent: it names none. */
  readonly ahead?: number | undefined;
  readonly progress?: number | undefined;
  /** `*` stands for the provider's id. */
  readonly hls?: string | undefined;
  /** The provider's own word, where it has several. */
  readonly word?: number | string;
};
/** `at` picks an asset. */
export type Step =
  | Create
  | Report
  | {
      readonly do: 'put';
      readonly at: number;
      readonly bytes: 'right' | 'short' | 'wrong';
      readonly isOtherType: boolean;
    }
  | {
      readonly do: 'get' | 'playback' | 'download' | 'complete' | 'retry' | 'restore';
      readonly at: number;
      readonly by: By;
    }
  | {
      readonly do: 'edit';
      readonly at: number;
      readonly by: By;
      readonly title: string | null;
      readonly ifMatch: IfMatch;
    }
  | {
      readonly do: 'remove';
      readonly at: number;
      readonly by: By;
      readonly purge: boolean;
      readonly ifMatch: IfMatch;
    };

const is = <const T>(value: T) => fc.constant(value);
const often = <const T, const U>(common: T, rare: U, weight = 10) =>
  fc.oneof({ weight, arbitrary: is(common) }, { weight: 1, arbitrary: is(rare) });
const at = fc.nat({ max: 3 });
const video = fc.nat({ max: 2 });
const by: fc.Arbitrary<By> = fc.oneof(
  { weight: 8, arbitrary: is('owner') },
  { weight: 2, arbitrary: is('service') },
  { weight: 1, arbitrary: is('other') },
);
const title = fc.constantFrom(null, '', 'One', 'Zwei ü 🎬');
const ifMatch = fc.constantFrom(
  'nothing' as const,
  'nothing' as const,
  'current' as const,
  'any' as const,
  'older' as const,
  'newer' as const,
);
const isSigned = often(true, false, 20);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

const create: fc.Arbitrary<Create> = fc.record({
  do: is('create'),
  kind: fc.constantFrom('onprem', 'onprem', 'onprem', 'image', 'cdnhost', 'edgehost'),
  by: often('service', 'owner', 2),
  title,
  announces: fc.constantFrom('nothing', 'size', 'digest'),
  video,
});

const URLS = [
  'https://media.example/a.m3u8',
  'https://media.example/b.m3u8?x=%C3%BC',
  'ftp://media.example/a.m3u8',
];
const onprem = fc.record({
  do: is('report'),
  provider: is('onprem'),
  at,
  isSigned,
  says: fc.constantFrom('processing', 'processing', 'failed', 'ready', 'nothing'),
  ahead: maybe(fc.constantFrom(0, 1, -1)),
  progress: maybe(fc.integer({ min: -5, max: 120 })),
  hls: maybe(fc.constantFrom(...URLS)),
});

const CDNHOST = [
  { says: 'processing', word: 7 },
  { says: 'ready', word: 3 },
  { says: 'ready', word: 4 },
  { says: 'failed', word: 5 },
  { says: 'failed', word: 8 },
  { says: 'nothing', word: 0 },
  { says: 'nothing', word: 6 },
  { says: 'nothing', word: 11 },
] as const;
const cdnhost = fc
  .record({
    do: is('report'),
    provider: is('cdnhost'),
    at: video,
    isSigned,
    isOfOtherLibrary: often(false, true),
    hls: is('https://cdn.example/*/playlist.m3u8'),
    report: fc.constantFrom(...CDNHOST),
  })
  .map(({ report, ...rest }) => ({ ...rest, ...report }));

const EDGEHOST = [
  { says: 'ready', word: 'ready' },
  { says: 'failed', word: 'error' },
  { says: 'nothing', word: 'inprogress' },
  { says: 'nothing', word: 'queued' },
] as const;
const edgehost = fc
  .record({
    do: is('report'),
    provider: is('edgehost'),
    at: video,
    isSigned,
    hls: fc.constantFrom('https://edge.example/*/manifest/video.m3u8', ...URLS),
    report: fc.constantFrom(...EDGEHOST),
  })
  .map(({ report, ...rest }) => ({ ...rest, ...report }));

const weighted = (weight: number, arbitrary: fc.Arbitrary<Step>) => ({ weight, arbitrary });

const step: fc.Arbitrary<Step> = fc.oneof(
  weighted(4, create),
  weighted(4, onprem),
  weighted(2, cdnhost),
  weighted(2, edgehost),
  weighted(
    4,
    fc.record({
      do: is('put'),
      at,
      bytes: fc.oneof(
        { weight: 5, arbitrary: is('right') },
        { weight: 1, arbitrary: is('short') },
        { weight: 1, arbitrary: is('wrong') },
      ),
      isOtherType: often(false, true),
    }),
  ),
  weighted(4, fc.record({ do: is('complete'), at, by })),
  weighted(6, fc.record({ do: fc.constantFrom('get', 'playback', 'download', 'retry', 'restore'), at, by })),
  weighted(2, fc.record({ do: is('edit'), at, by, title, ifMatch })),
  weighted(1, fc.record({ do: is('remove'), at, by, purge: often(false, true, 2), ifMatch })),
);

/**
 * As many commands as that. The first ones make something; a failing list loses those that do not matter.
 */
export const commands = (length: number): fc.Arbitrary<readonly Step[]> =>
  fc
    .tuple(
      ...Array.from({ length }, (_, index) =>
        fc.option(index < 3 ? create : step, { nil: undefined, freq: 1000 }),
      ),
    )
    .map((all) => all.filter((one) => one !== undefined));
