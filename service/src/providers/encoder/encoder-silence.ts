// Decides whether the operator's encoder still works on a job: pure.

type EncoderJob = {
  readonly attempt: number;
  readonly requests: number;
  readonly accepted_at: Date;
  readonly deadline: Date;
  /** When the encoder last reported on the asset since it accepted the job. */
  readonly reported_at: Date | null;
};

type Clock = { readonly heartbeatMs: number; readonly now: Date };

/** `isFinal`: the encoder was asked often enough. */
export type EncoderState =
  | { readonly state: 'at_work'; readonly checkAt: Date }
  | { readonly state: 'silent'; readonly isFinal: boolean };

/** Requests without a report in between. */
const MAX_REQUESTS = 3;

export function judgeEncoderJob(job: EncoderJob, { heartbeatMs, now }: Clock): EncoderState {
  const heardAt = job.reported_at ?? job.accepted_at;
  const checkAt = new Date(Math.min(heardAt.getTime() + heartbeatMs, job.deadline.getTime()));
  if (checkAt > now) return { state: 'at_work', checkAt };
  return { state: 'silent', isFinal: countRequests(job) >= MAX_REQUESTS };
}

/** A report shows that the encoder took the job, so that only later requests count. */
export const countRequests = ({ requests, reported_at: reportedAt }: EncoderJob): number =>
  reportedAt === null ? requests : 1;
