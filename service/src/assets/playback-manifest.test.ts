// Tests the playback manifest after each `ready` report (contract B5, B6).
import { describe, expect, test } from 'vitest';
import { hasRefusedUrl, type Manifest, type ReportedUrls, toReadyManifest } from './playback-manifest.ts';

describe('the manifest after ready', () => {
  const own = (attempt: number, run: number): Manifest => ({
    kind: 'own',
    attempt,
    folder: `${attempt}-${run}`,
  });
  const theirs = (
    attempt: number,
    urls: Partial<Record<'hls' | 'dash' | 'thumbnail', string>>,
  ): Manifest => ({ kind: 'urls', attempt, hls: null, dash: null, thumbnail: null, ...urls });
  const toReport = (urls: ReportedUrls) => ({ kind: 'urls', urls }) as const;
  const NO = { refused: true } as const;

  const cases: [string, Manifest | null, Parameters<typeof toReadyManifest>[1], Manifest | null][] = [
    ['null without reported playback', null, undefined, null],
    ['unchanged without reported playback', own(2, 1), undefined, own(2, 1)],
    ['null, not the one of an older attempt', own(1, 1), undefined, null],
    [
      'without URLs of an older attempt',
      theirs(1, { hls: 'a' }),
      toReport({ dash: 'b' }),
      theirs(2, { dash: 'b' }),
    ],
    ['our renditions', null, { kind: 'own', run: 3 }, own(2, 3)],
    ['the later run of two', own(2, 1), { kind: 'own', run: 2 }, own(2, 2)],
    ['the later run of two in any order', own(2, 12), { kind: 'own', run: 9 }, own(2, 12)],
    [
      'our renditions with the chosen poster',
      null,
      { kind: 'own', run: 3, posterTimeMs: 0 },
      { kind: 'own', attempt: 2, folder: '2-3', posterTimeMs: 0 },
    ],
    [
      'unchanged with a newer poster, when the same run is reported again',
      { kind: 'own', attempt: 2, folder: '2-3', posterTimeMs: 9 },
      { kind: 'own', run: 3, posterTimeMs: 0 },
      { kind: 'own', attempt: 2, folder: '2-3', posterTimeMs: 9 },
    ],
    [
      'unchanged without a poster, when the same run is reported again',
      own(2, 3),
      { kind: 'own', run: 3, posterTimeMs: 0 },
      own(2, 3),
    ],
    [
      'a later run without the poster of the earlier',
      { kind: 'own', attempt: 2, folder: '2-3', posterTimeMs: 9 },
      { kind: 'own', run: 4 },
      own(2, 4),
    ],
    ['our renditions in place of URLs', theirs(2, { hls: 'a' }), { kind: 'own', run: 1 }, own(2, 1)],
    [
      'the reported URLs',
      null,
      toReport({ hls: 'a', thumbnail: 'c' }),
      theirs(2, { hls: 'a', thumbnail: 'c' }),
    ],
    [
      'the latest of each URL',
      theirs(2, { hls: 'a', dash: 'b' }),
      toReport({ hls: 'x', dash: null }),
      theirs(2, { hls: 'x', dash: 'b' }),
    ],
    [
      'without a refused URL',
      theirs(2, { hls: 'a', dash: 'b' }),
      toReport({ hls: NO, dash: 'b' }),
      theirs(2, { dash: 'b' }),
    ],
    ['null if the only URL was refused', theirs(2, { hls: 'a' }), toReport({ hls: NO }), null],
    ['null if all URLs were refused', null, toReport({ hls: NO, dash: NO, thumbnail: NO }), null],
    ['our renditions, if a report has no URLs', own(2, 1), toReport({}), own(2, 1)],
    [
      'an image',
      null,
      { kind: 'image', animated: false, alpha: true },
      { kind: 'image', attempt: 2, animated: false, alpha: true },
    ],
    [
      'the latest image',
      { kind: 'image', attempt: 2, animated: true, alpha: true },
      { kind: 'image', animated: false, alpha: false },
      { kind: 'image', attempt: 2, animated: false, alpha: false },
    ],
    [
      'an unchanged image without reported playback',
      { kind: 'image', attempt: 2, animated: true, alpha: true },
      undefined,
      { kind: 'image', attempt: 2, animated: true, alpha: true },
    ],
    [
      'unchanged if a report has no URLs',
      theirs(2, { hls: 'a' }),
      toReport({ hls: null }),
      theirs(2, { hls: 'a' }),
    ],
  ];
  const hosted = (more: object = {}): Manifest => ({ kind: 'hosted', attempt: 2, videoId: 'v', ...more });
  const reported = (urls: ReportedUrls, videoId = 'v') => ({ kind: 'hosted', videoId, urls }) as const;
  cases.push(
    ['a hosted video without URLs', null, reported({}), hosted()],
    ['the URLs that its provider gave', null, reported({ hls: 'a', dash: null }), hosted({ hls: 'a' })],
    ['null for a refused URL', hosted({ hls: 'a' }), reported({ hls: NO }), hosted({ hls: null })],
    [
      'the latest URL of each kind',
      hosted({ hls: 'a', dash: 'b' }),
      reported({ hls: 'x' }),
      hosted({ hls: 'x', dash: 'b' }),
    ],
    ['no URL of another video', hosted({ hls: 'a' }), reported({}, 'w'), hosted({ videoId: 'w' })],
  );
  for (const [what, known, report, expected] of cases) {
    test(`is ${what}`, () => {
      expect(toReadyManifest(known, report, 2)).toEqual(expected);
    });
  }

  test('any refused URL is detected', () => {
    expect(
      [{}, { hls: 'a' }, { hls: NO }, { hls: 'a', thumbnail: NO }, { dash: null }].map(hasRefusedUrl),
    ).toEqual([false, false, true, true, false]);
  });
});
