// Runs the checks of the deployment: few at a time, each with a deadline, and a failed one is a finding.
import { type Finding, notChecked } from '@mediary/checks/finding';
import type { Diagnostics } from '@mediary/contract/schemas/admin/diagnostics';
import { createSingleFlight } from '../../platform/concurrency/single-flight.ts';
import { isUnavailable } from '../../platform/http/errors.ts';
import type { OperationsContext } from '../context.ts';
import { listChecks } from './deployment-checks.ts';
import { deploymentOf } from './diagnostics-token.ts';
import type { Check } from './check.ts';

type DiagnoseOptions = { readonly isDeep: boolean };

/** How long a result is reused: reloading a page does not start the checks again. */
const KEEP_MS = 5000;
/** The checks share the database pool with requests. */
const MAX_RUNNING = 3;

/** Callers of the same depth share a run. */
export function createDiagnoser(ctx: OperationsContext): (options: DiagnoseOptions) => Promise<Diagnostics> {
  const { now, service, urlSecrets } = ctx;
  const runOnce = createSingleFlight({ maxConcurrent: 2 });
  const recent = new Map<boolean, { readonly endedAt: number; readonly result: Diagnostics }>();
  return async ({ isDeep }) => {
    const last = recent.get(isDeep);
    if (last && now().getTime() - last.endedAt < KEEP_MS) return last.result;
    return runOnce(isDeep ? 'deep' : 'normal', async () => {
      const result = {
        findings: await runChecks(ctx, listChecks(ctx, { isDeep })),
        checked_at: now().toISOString(),
        version: service.version,
        deployment: deploymentOf(urlSecrets),
      };
      recent.set(isDeep, { endedAt: now().getTime(), result });
      return result;
    });
  };
}

async function runChecks(ctx: OperationsContext, checks: readonly Check[]): Promise<Finding[]> {
  const results = new Map<Check, readonly Finding[]>();
  const waiting = checks.values();
  const work = async (): Promise<void> => {
    // The workers share one iterator.
    for (const check of waiting) results.set(check, await runCheck(ctx, check));
  };
  await Promise.all(Array.from({ length: MAX_RUNNING }, work));
  return checks.flatMap((check) => results.get(check) ?? []);
}

async function runCheck(
  { log }: OperationsContext,
  { name, deadlineMs, run }: Check,
): Promise<readonly Finding[]> {
  const { promise: expired, resolve } = Promise.withResolvers<readonly Finding[]>();
  const late = [notChecked(name, `The check took longer than ${deadlineMs / 1000} s.`)];
  const timer = setTimeout(() => resolve(late), deadlineMs);
  const work = run().catch((error: unknown) => {
    log.warn({ err: error, check: name }, 'a check of the diagnostics failed');
    return [notChecked(name, describeError(error))];
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
}

/** Errors may name SQL, paths or addresses, so only messages that callers may see are shown. */
const describeError = (error: unknown): string =>
  isUnavailable(error) && error instanceof Error
    ? `${error.message}.`
    : 'The check failed. The log of the process has the error.';
