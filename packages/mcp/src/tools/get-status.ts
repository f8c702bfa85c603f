// `get_status`: what the doctor of the command line checks from outside, and what operators may see.
import { checkConnection, checkReadiness } from '@mediary/checks/connection';
import { type Finding, notChecked, ok, problem } from '@mediary/checks/finding';
import { isMediaryError, type Mediary } from '@mediary/client';
import { z } from 'zod';
import type { ServiceClients } from '../clients.ts';
import { createSend, toAddress } from '../probe-service.ts';
import { defineTool } from '../tool.ts';
import { describeError } from '../tool-error.ts';

const finding = z.looseObject({
  check: z.string(),
  status: z.enum(['warning', 'problem', 'not_checked']),
  message: z.string(),
  fix: z.string().nullable(),
});

export const getStatus = defineTool({
  name: 'get_status',
  title: 'Get the status of the service',
  description:
    'Checks whether the service can be reached, takes uploads, runs jobs and accepts the credentials of ' +
    'this server. With the operator key it adds the checks that the service makes of itself, the queues ' +
    'that have jobs, and the workers. findings has what is not well, each with a fix.',
  input: z.strictObject({
    deep: z
      .boolean()
      .default(false)
      .describe('True: also checks that take long or cost calls, of provider APIs and the object store.'),
  }),
  output: z.looseObject({
    url: z.string(),
    is_reachable: z.boolean(),
    version: z.string().nullable(),
    findings: z.array(finding),
    ok_count: z.int(),
    queues: z.array(z.looseObject({})).nullable(),
    workers: z.array(z.looseObject({})).nullable(),
  }),
  effect: 'reads',
  async run(clients, { deep }, { signal }) {
    const { settings, operator } = clients;
    const send = createSend(settings, signal);
    const { isReachable, version, findings } = await checkConnection(send, toAddress(settings));
    const common = { url: settings.url, is_reachable: isReachable, version: version ?? null };
    if (!isReachable) return { data: { ...common, ...toCounts(findings), queues: null, workers: null } };
    const inside = await Promise.all([
      checkReadiness(send, toAddress(settings), 'uploads'),
      checkCredential(clients, signal),
      ...(operator ? [] : [notChecked('access.diagnostics', NO_OPERATOR_KEY)]),
    ]);
    const operations = await readOperations(operator, deep, signal);
    const all = [...findings, ...inside, ...operations.findings];
    return { data: { ...common, ...toCounts(all), queues: operations.queues, workers: operations.workers } };
  },
});

const NO_OPERATOR_KEY = 'Queues, workers and the checks of the service need MEDIARY_OPERATOR_KEY.';

/** What is well is counted only: an assistant acts on the rest. */
const toCounts = (findings: readonly Finding[]) => ({
  findings: findings.filter(({ status }) => status !== 'ok'),
  ok_count: findings.filter(({ status }) => status === 'ok').length,
});

async function checkCredential(clients: ServiceClients, signal: AbortSignal): Promise<Finding> {
  const check = 'access.credentials';
  const { credential, owner } = clients.settings;
  if (!credential)
    return notChecked(
      check,
      'No token and no service key is set.',
      'Set MEDIARY_TOKEN or MEDIARY_SERVICE_KEY.',
    );
  const ownerUserId = 'serviceKey' in credential ? (owner ?? 'mediary-mcp') : undefined;
  try {
    await clients.assets().media.list({ limit: 1 }, { signal, ownerUserId }).page();
    return ok(check, 'The credential is accepted.');
  } catch (error) {
    if (owner === undefined && isMediaryError(error, 'owner_not_allowed'))
      return ok(check, 'The service key is accepted, for some owners.');
    return toProblem(check, error, signal);
  }
}

function toProblem(check: string, error: unknown, signal: AbortSignal): Finding {
  signal.throwIfAborted();
  const { message, hint, error_code, reason, request_id } = describeError(error);
  const details = { error_code, reason, request_id };
  return problem(check, { message, fix: hint ?? 'Read the log of the service.', details });
}

type Operations = {
  readonly findings: readonly Finding[];
  readonly queues: readonly object[] | null;
  readonly workers: readonly object[] | null;
};

type Queue = {
  readonly queue: string;
  readonly waiting: number;
  readonly delayed: number;
  readonly active: number;
  readonly failed: number;
  readonly oldest_waiting_s: number | null;
};
type WorkerProcess = Readonly<Record<string, unknown>> & { readonly running_jobs: readonly unknown[] };
type Items<T> = { readonly items: readonly T[] };

const MAX_WORKERS = 50;

async function readOperations(
  operator: Mediary | undefined,
  deep: boolean,
  signal: AbortSignal,
): Promise<Operations> {
  if (!operator) return { findings: [], queues: null, workers: null };
  const read = <T>(path: string, query: object = {}, timeoutMs?: number): Promise<T> =>
    operator.request({ method: 'GET', path: `/admin/${path}`, query, options: { signal, timeoutMs } });
  try {
    const [queues, workers, diagnostics] = await Promise.all([
      read<Items<Queue>>('queues'),
      read<Items<WorkerProcess>>('workers', { limit: MAX_WORKERS }),
      read<{ readonly findings: readonly Finding[] }>('diagnostics', { deep }, DIAGNOSTICS_MS),
    ]);
    return {
      findings: diagnostics.findings,
      queues: queues.items.filter(hasJobs).map(toQueue),
      workers: workers.items.map(toWorker),
    };
  } catch (error) {
    const isRefused = isMediaryError(error, 'UNAUTHORIZED') || isMediaryError(error, 'FORBIDDEN');
    const check = isRefused ? 'access.operator_key' : 'access.diagnostics';
    return { findings: [toProblem(check, error, signal)], queues: null, workers: null };
  }
}

/** The diagnostics take up to 30 s. */
const DIAGNOSTICS_MS = 60_000;

const hasJobs = ({ waiting, delayed, active, failed }: Queue): boolean =>
  waiting + delayed + active + failed > 0;

const toQueue = ({ queue, waiting, delayed, active, failed, oldest_waiting_s }: Queue) => ({
  ...{ queue, waiting, delayed, active, failed },
  oldest_waiting_s,
});

const toWorker = ({ running_jobs: jobs, ...worker }: WorkerProcess) => ({
  ...worker,
  running_job_count: jobs.length,
});
