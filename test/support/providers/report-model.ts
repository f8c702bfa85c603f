// Predicts the state after reports in any order: the newest attempt counts, and in it the highest state
// (contract B6).

const STATUSES = ['pending_upload', 'processing', 'failed', 'ready'];
const RENDITION_STATES = ['queued', 'encoding', 'failed', 'ready'];

export type Report = {
  readonly status: 'processing' | 'failed' | 'ready';
  readonly attempt?: number | undefined;
  readonly progress?: number | undefined;
  readonly renditions?: readonly { readonly height: number; readonly state: string }[] | undefined;
};
type InitialState = {
  readonly stream_status: string;
  readonly attempt: number;
  readonly refused: boolean;
};
export type FinalState = {
  readonly status: string;
  readonly attempt: number;
  readonly progress: number;
  readonly renditions: readonly string[];
};

/** All reports name their attempt, or none does. */
export function predictState(start: InitialState, reports: readonly Report[]): FinalState {
  const attempt = Math.max(start.attempt, ...reports.map((report) => report.attempt ?? 0));
  const isNew = attempt > start.attempt;
  const counted =
    start.refused && !isNew ? [] : reports.filter((report) => (report.attempt ?? attempt) === attempt);
  const status = furthest(STATUSES, [
    isNew ? 'processing' : start.stream_status,
    ...counted.map((report) => report.status),
  ]);
  const renditions = counted.flatMap((report) => report.renditions ?? []);
  return {
    status,
    attempt,
    progress: status === 'ready' ? 100 : Math.max(0, ...counted.map(({ progress = 0 }) => progress)),
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
