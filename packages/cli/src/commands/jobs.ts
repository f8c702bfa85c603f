// `queues`, `jobs` and `workers`: the work of an installation, for operators.
import type { Command } from 'commander';
import { parseCount } from '../arguments.ts';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../context.ts';
import { formatBytes, formatDuration, formatFields, formatTable, formatTime } from '../text.ts';

type Queue = {
  readonly queue: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
  readonly oldest_waiting_s: number | null;
};
type Job = {
  readonly id: string;
  readonly queue: string;
  readonly asset_id: string | null;
  readonly state: string;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly ended_at: string | null;
  readonly next_run_at: string | null;
  readonly runs: number;
  readonly max_runs: number;
  readonly worker: { readonly id: string; readonly host: string } | null;
  readonly last_error: { readonly code: string; readonly message: string } | null;
};
type WorkerProcess = {
  readonly id: string;
  readonly host: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly state: string;
  readonly last_seen_at: string;
  readonly running_jobs: readonly unknown[];
  readonly scratch_free_bytes: number | null;
  readonly clock_skew_ms: number;
};
type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

type Paging = { readonly limit?: number; readonly cursor?: string };
type JobFilters = Paging & { readonly queue?: string; readonly state?: string; readonly asset?: string };

const addPaging = (command: Command): Command =>
  command
    .option('--limit <count>', 'number of entries', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page');

export function addJobCommands(program: Command, run: Runner): void {
  program
    .command('queues')
    .description('List the queues with their waiting, delayed, active and failed jobs (operator key)')
    .action(run(listQueues));
  const jobs = program.command('jobs').description('List, repeat and cancel jobs (operator key)');
  addPaging(jobs.command('list').description('List jobs that have not succeeded'))
    .option('--queue <name>', 'only jobs of this queue')
    .option('--state <state>', 'only jobs that are active, waiting, delayed or failed')
    .option('--asset <id>', 'only jobs of this asset')
    .action(run(listJobs));
  const addOne = (name: string, description: string, handler: Handler) =>
    jobs.command(name).description(description).argument('<id>', 'id of the job').action(run(handler));
  addOne('get', 'Show a job', getJob);
  addOne('run-again', 'Run a failed or delayed job now', changeJob('run-again'));
  addOne('cancel', 'Cancel a job; its asset fails as cancelled', changeJob('cancel'));
  const workers = program.command('workers').description('List and drain processes (operator key)');
  addPaging(workers.command('list').description('List the processes of the last day')).action(
    run(listWorkers),
  );
  workers
    .command('drain')
    .description('Let a worker take no further job until it is restarted')
    .argument('<id>', 'id of the process')
    .action(run(drainWorker));
}

const listQueues: Handler = async (context) => {
  const api = await openOperatorApi(context);
  const page = await api.get<Page<Queue>>('/queues');
  context.output.result(page, () =>
    formatTable(
      ['QUEUE', 'WAITING', 'DELAYED', 'ACTIVE', 'FAILED', 'OLDEST'],
      page.items.map(({ queue, waiting, delayed, active, failed, oldest_waiting_s: oldest }) => [
        queue,
        waiting,
        delayed,
        active,
        failed,
        oldest === null ? null : formatDuration(oldest * 1000),
      ]),
    ),
  );
};

const listJobs: Handler<JobFilters> = async (context, _args, { asset, ...filters }) => {
  const api = await openOperatorApi(context);
  const page = await api.get<Page<Job>>('/jobs', { ...filters, asset_id: asset });
  context.output.result(page, () =>
    formatTable(
      ['ID', 'QUEUE', 'STATE', 'CREATED', 'RUNS', 'ASSET', 'LAST ERROR'],
      page.items.map((job) => [
        job.id,
        job.queue,
        job.state,
        formatTime(job.created_at),
        `${job.runs}/${job.max_runs}`,
        job.asset_id,
        job.last_error?.message,
      ]),
    ),
  );
  noteNextPage(context, page.next_cursor);
};

const getJob: Handler = async (context, [id = '']) => {
  const api = await openOperatorApi(context);
  const job = await api.get<Job>(`/jobs/${encodeURIComponent(id)}`);
  context.output.result(job, () => formatJob(job));
};

const changeJob =
  (command: 'run-again' | 'cancel'): Handler =>
  async (context, [id = '']) => {
    const api = await openOperatorApi(context);
    const job = await api.post<Job>(`/jobs/${encodeURIComponent(id)}/${command}`, {});
    context.output.result(job, () => formatJob(job));
  };

const formatOptionalTime = (iso: string | null) => iso && formatTime(iso);

const formatJob = (job: Job): string =>
  formatFields([
    ['id', job.id],
    ['queue', job.queue],
    ['asset', job.asset_id],
    ['state', job.state],
    ['created', formatTime(job.created_at)],
    ['started', formatOptionalTime(job.started_at)],
    ['ended', formatOptionalTime(job.ended_at)],
    ['next run', formatOptionalTime(job.next_run_at)],
    ['runs', `${job.runs} of ${job.max_runs}`],
    ['worker', job.worker?.host],
    ['last error', job.last_error && `${job.last_error.message} (${job.last_error.code})`],
  ]);

const listWorkers: Handler<Paging> = async (context, _args, paging) => {
  const api = await openOperatorApi(context);
  const page = await api.get<Page<WorkerProcess>>('/workers', paging);
  context.output.result(page, () =>
    formatTable(
      ['ID', 'HOST', 'ROLES', 'VERSION', 'STATE', 'LAST SEEN', 'JOBS', 'SCRATCH FREE', 'CLOCK'],
      page.items.map((worker) => [
        worker.id,
        worker.host,
        worker.roles.join(', '),
        worker.version,
        worker.state,
        formatTime(worker.last_seen_at),
        worker.running_jobs.length,
        worker.scratch_free_bytes === null ? null : formatBytes(worker.scratch_free_bytes),
        `${worker.clock_skew_ms} ms`,
      ]),
    ),
  );
  noteNextPage(context, page.next_cursor);
};

const drainWorker: Handler = async (context, [id = '']) => {
  const api = await openOperatorApi(context);
  const drained = await api.post<{ readonly id: string }>(`/workers/${encodeURIComponent(id)}/drain`, {});
  context.output.result(drained, () => `${drained.id} takes no further job.`);
};

function noteNextPage({ output }: CommandContext, cursor: string | null): void {
  if (cursor !== null) output.note(`More: --cursor ${cursor}`);
}
