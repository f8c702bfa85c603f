// Tests that reports in any order and repetition end in the state that a simple model predicts (contract B6).
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FinalState, predictState } from '../../../../test/support/providers/report-model.ts';
import type { Asset } from '../../assets/asset.ts';
import { afterReport, afterReports, createVideo, NOW } from '../asset.fixture.ts';
import { decideReport } from './decide.ts';
import { decideRefusal } from './decide-commands.ts';
import { RENDITION_STATES } from '@mediary/contract/enums';
import type { Rendition } from '../../assets/renditions.ts';
import type { StreamReport } from './stream-report.ts';

const REPORTED = { started: 'processing', failed: 'failed', succeeded: 'ready' } as const;
const RANK = ['pending_upload', 'processing', 'failed', 'ready'];
const pending = createVideo();
const refusedVideo: Asset = {
  ...pending,
  ...decideRefusal(pending, { code: 'playlist', message: 'no', retryable: false }).set,
};

/** The state that the model predicts. */
const model = (start: Asset, reports: readonly StreamReport[]): FinalState =>
  predictState(
    start,
    reports.map(({ event, attempt, progress, renditions }) => ({
      status: REPORTED[event],
      attempt,
      progress,
      renditions,
    })),
  );

const endOf = ({ stream_status: status, attempt, progress, renditions }: Asset): FinalState => ({
  status,
  attempt,
  progress,
  renditions: renditions.map(({ height, state }) => `${height} ${state}`).sort(),
});

const rendition: fc.Arbitrary<Rendition> = fc.record({
  height: fc.constantFrom(240, 360, 720),
  state: fc.constantFrom(...RENDITION_STATES),
});

const reportOf = (attempt: fc.Arbitrary<number | undefined>): fc.Arbitrary<StreamReport> =>
  fc
    .record({
      event: fc.constantFrom('started', 'failed', 'succeeded'),
      attempt,
      progress: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      renditions: fc.option(fc.array(rendition, { maxLength: 3 }), { nil: undefined }),
      hls: fc.constantFrom(undefined, 'https://a.example/1', 'https://a.example/2'),
      code: fc.constantFrom(undefined, 'a', 'b'),
    })
    .map(({ event, attempt: number, progress, renditions, hls, code }) => ({
      source: 'webhook',
      provider: 'onprem',
      event,
      ...(number && { attempt: number }),
      ...(progress !== undefined && { progress }),
      ...(renditions && { renditions }),
      ...(event === 'succeeded' && hls && { playback: { kind: 'urls', urls: { hls } } }),
      ...(event === 'failed' && code && { failure: { code, message: code, retryable: true } }),
    }));

const someReports = fc.oneof(
  fc.array(reportOf(fc.constantFrom(1, 2, 3)), { maxLength: 12 }),
  fc.array(reportOf(fc.constant(undefined)), { maxLength: 12 }),
);
const someStart = fc.constantFrom(
  pending,
  refusedVideo,
  afterReport(pending, { source: 'webhook', provider: 'onprem', event: 'started' }),
  { ...pending, attempt: 2 },
);

describe('any order and repetition of reports', () => {
  test('ends in the state that the model predicts', () => {
    const shuffled = someReports.chain((reports) =>
      fc.record({
        reports: fc.constant(reports),
        order: fc
          .tuple(...[reports, reports].map((half) => fc.shuffledSubarray(half, { minLength: half.length })))
          .map((halves) => halves.flat()),
      }),
    );
    fc.assert(
      fc.property(someStart, shuffled, (start, { reports, order }) => {
        expect(endOf(afterReports(start, reports))).toEqual(model(start, reports));
        expect(endOf(afterReports(start, order))).toEqual(model(start, reports));
      }),
      { numRuns: 1500 },
    );
  });

  test('never lowers progress, renditions or state within an attempt', () => {
    fc.assert(
      fc.property(someStart, someReports, (start, reports) => {
        reports.reduce((before, report) => {
          const after = afterReport(before, report);
          if (after.attempt === before.attempt) {
            expect(after.progress).toBeGreaterThanOrEqual(before.progress);
            expect(RANK.indexOf(after.stream_status)).toBeGreaterThanOrEqual(
              RANK.indexOf(before.stream_status),
            );
            expect(after.renditions.length).toBeGreaterThanOrEqual(before.renditions.length);
          }
          return after;
        }, start);
      }),
      { numRuns: 1000 },
    );
  });

  test('answers an immediate repetition with the same outcome and no change', () => {
    fc.assert(
      fc.property(
        someStart,
        someReports,
        reportOf(fc.constantFrom(undefined, 1, 2, 3)),
        (start, reports, report) => {
          const before = afterReports(start, reports);
          const first = decideReport(before, report, NOW);
          const second = decideReport(
            { ...before, ...first.change?.set },
            report,
            new Date(NOW.getTime() + 1000),
          );
          expect(second).toEqual({
            processed: first.processed,
            reason: first.processed ? 'repeat' : first.reason,
          });
        },
      ),
      { numRuns: 1500 },
    );
  });
});

describe('every sequence of up to five reports', () => {
  const word = (event: StreamReport['event'], attempt?: number, progress?: number): StreamReport => ({
    source: 'webhook',
    provider: 'onprem',
    event,
    ...(attempt && { attempt }),
    ...(progress && { progress }),
  });
  const wordsOf = (attempt?: number) => [
    word('started', attempt, 30),
    word('started', attempt, 60),
    word('failed', attempt),
    word('succeeded', attempt),
  ];

  /** Walks the tree of sequences and applies each prefix once. */
  function walk(
    asset: Asset,
    {
      alphabet,
      said,
      start,
    }: { alphabet: readonly StreamReport[]; said: readonly StreamReport[]; start: Asset },
  ): number {
    const ending = JSON.stringify(endOf(asset));
    const predicted = JSON.stringify(model(start, said));
    if (ending !== predicted)
      throw new Error(`${JSON.stringify(said)} ends in ${ending}, not in ${predicted}`);
    if (said.length === 5) return 1;
    let seen = 1;
    for (const report of alphabet) {
      const { processed, reason, change } = decideReport(asset, report, NOW);
      const after: Asset = { ...asset, ...change?.set };
      const isReportedState =
        !['older_attempt', 'refused'].includes(reason) && after.stream_status === REPORTED[report.event];
      if (processed !== isReportedState)
        throw new Error(`${JSON.stringify([...said, report])} is answered processed: ${processed}`);
      seen += walk(after, { alphabet, said: [...said, report], start });
    }
    return seen;
  }

  test.each([
    {
      which: 'with attempt numbers',
      alphabet: [...wordsOf(1), ...wordsOf(2)],
      start: pending,
      count: 37_449,
    },
    {
      which: 'with attempt numbers, of a refused asset',
      alphabet: [...wordsOf(1), ...wordsOf(2)],
      start: refusedVideo,
      count: 37_449,
    },
    { which: 'without attempt numbers', alphabet: wordsOf(), start: pending, count: 1365 },
  ])(
    '$which ends as predicted, and is processed exactly if the state is the reported one',
    ({ alphabet, start, count }) => {
      expect(walk(start, { alphabet, said: [], start })).toBe(count);
    },
  );
});
