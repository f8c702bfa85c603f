// Runs the checks of the deployment: few at a time, each with a deadline, and a failed one is a finding.
import type { Diagnostics } from '@mediary/contract/schemas/diagnostics';
import type { Secret } from '../../auth/secret.ts';
import type { SingleFlight } from '../../platform/concurrency/single-flight.ts';
import { isUnavailable } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logger.ts';
import { deploymentOf } from './diagnostics-token.ts';
import { type Check, type Finding, notChecked } from './finding.ts';

type DiagnoseNeeds = {
  readonly listChecks: (options: DiagnoseOptions) => readonly Check[];
  readonly urlSecrets: readonly Secret[];
  readonly version: string;
  readonly log: Logger;
  readonly now: () => Date;
  readonly runOnce: SingleFlight;
  /** Changed by each run. */
  readonly recent: RecentRuns;
};

type DiagnoseOptions = { readonly isDeep: boolean };
export type RecentRuns = Map<string, { readonly endedAt: number; readonly result: Diagnostics }>;

/** How long a result is reused: reloading a page does not start the checks again. */
const KEEP_MS = 5000;
/** The checks share the database pool with requests. */
const MAX_RUNNING = 3;

export async function diagnose(needs: DiagnoseNeeds, options: DiagnoseOptions): Promise<Diagnostics> {
  const key = options.isDeep ? 'deep' : 'normal';
  const last = needs.recent.get(key);
  if (last && needs.now().getTime() - last.endedAt < KEEP_MS) return last.result;
  return needs.runOnce(key, async () => {
    const result = {
      findings: await runChecks(needs, needs.listChecks(options)),
      checked_at: needs.now().toISOString(),
      version: needs.version,
      deployment: deploymentOf(needs.urlSecrets),
    };
    needs.recent.set(key, { endedAt: needs.now().getTime(), result });
    return result;
  });
}

async function runChecks(needs: Pick<DiagnoseNeeds, 'log'>, checks: readonly Check[]): Promise<Finding[]> {
  const results = new Map<Check, readonly Finding[]>();
  const waiting = checks.values();
  const work = async (): Promise<void> => {
    // The workers share one iterator.
    for (const check of waiting) results.set(check, await runCheck(needs, check));
  };
  await Promise.all(Array.from({ length: MAX_RUNNING }, work));
  return checks.flatMap((check) => results.get(check) ?? []);
}

async function runCheck(
  { log }: Pick<DiagnoseNeeds, 'log'>,
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
