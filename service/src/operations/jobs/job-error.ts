// Why the latest run of a job failed, from what the queue stored: pure.

type JobError = { readonly code: string; readonly message: string };

/** Texts of the job queue about runs that ended without an error of their own. */
const QUEUE_ERRORS: Readonly<Record<string, JobError>> = {
  'job heartbeat timeout': { code: 'worker_lost', message: 'The worker that ran the job was lost.' },
  'job timed out': { code: 'timed_out', message: 'The run took longer than allowed.' },
};

/** Null before the first failed run. Only the first line. */
export function describeJobError(output: unknown): JobError | null {
  const error = findError(output);
  if (error === undefined) return null;
  const { message, code, name } = error;
  const text = typeof message === 'string' ? message : typeof name === 'string' ? name : '';
  const known = QUEUE_ERRORS[text];
  if (known) return known;
  const [line = ''] = text.split('\n');
  return {
    code: typeof code === 'string' ? code : 'error',
    message: line || 'The run failed without a message.',
  };
}

type StoredError = { readonly message?: unknown; readonly code?: unknown; readonly name?: unknown };

/** Results of completed jobs are no objects with a message. */
function findError(output: unknown): StoredError | undefined {
  if (typeof output !== 'object' || output === null) return undefined;
  const value = 'value' in output ? output.value : output;
  if (typeof value === 'string') return { message: value };
  if (typeof value !== 'object' || value === null) return undefined;
  return 'message' in value || 'name' in value ? value : undefined;
}
