// Predicts the state after reports in any order: the newest attempt counts, and in it the highest state
// (contract B6).

const STATUSES = ['pending_upload', 'processing', 'failed', 'ready'];
const RENDITION_STATES = ['queued', 'encoding', 'failed', 'ready'];

export type Said = {
  readonly status: 'processing' | 'failed' | 'ready';
  readonly attempt?: number | undefined;
  readonly progress?: number | undefined;
  readonly renditions?: readonly { readonly height: number; readonly state: string }[] | undefined;
};
type Start = { readonly stream_status: string; readonly attempt: number; readonly refused: boolean };
export type Ending = {
  readonly status: string;
  readonly attempt: number;
  readonly progress: number;
  readonly renditions: readonly string[];
};

/** All reports name their attempt, or none does. */
export function foretell(start: Start, said: readonly Said[]): Ending {
  const attempt = Math.max(start.attempt, ...said.map((report) => report.attempt ?? 0));
  const isNew = attempt > start.attempt;
  const counting =
    start.refused && !isNew ? [] : said.filter((report) => (report.attempt ?? attempt) === attempt);
  const status = furthest(STATUSES, [
    isNew ? 'processing' : start.stream_status,
    ...counting.map((report) => report.status),
  ]);
  const renditions = counting.flatMap((report) => report.renditions ?? []);
  return {
    status,
    attempt,
    progress: status === 'ready' ? 100 : Math.max(0, ...counting.map(({ progress = 0 }) => progress)),
    renditions: [...new Set(renditions.map(({ height }) => height))]
      .map(
        (height) =>
          `${height} ${furthest(
            RENDITION_STATES,
            renditions.filter((one) => one.height === height).map(({ state }) => state),
          )}`,
      )
      .sort(),
  };
}

const furthest = (order: readonly string[], seen: readonly string[]): string =>
  order[Math.max(...seen.map((one) => order.indexOf(one)))] ?? 'nothing';
