// Checks that the object store works, has space, and agrees about the time.
import { isUnavailable } from '../../platform/http/errors.ts';
import { freeBytes } from '../../platform/disk/free-space.ts';
import { sendProbe } from '@mediary/checks/probe';
import type { StoreFinding } from '../../storage/object-store.ts';
import { isRefusal } from '../../storage/whole-objects.ts';
import type { OperationsContext } from '../context.ts';
import { judgeClock } from './database-rules.ts';
import { type Finding, notChecked, ok, problem, warning } from '@mediary/checks/finding';
import { describeProbe, headerOf } from '@mediary/checks/reply';

export async function checkStorage(
  ctx: OperationsContext,
  { isDeep }: { readonly isDeep: boolean },
): Promise<Finding[]> {
  const access = await checkAccess(ctx);
  if (ctx.settings.s3 === undefined) return [access, await checkSpace(ctx)];
  if (access.status !== 'ok') return [access];
  return [access, isDeep ? await checkOperations(ctx) : OPERATIONS_NOT_CHECKED];
}

async function checkAccess({ store, machine, settings }: OperationsContext): Promise<Finding> {
  const check = 'storage.access';
  try {
    await store.check();
    await machine.requireDatabaseSpace();
    return ok(check, 'Objects can be written.');
  } catch (error) {
    const isFull = isRefusal(error, 'full');
    return problem(check, {
      message: isFull ? 'The disk of the object store is full.' : describeAccessError(error),
      fix: isFull
        ? 'Free space: purge the trash, or use a larger disk. MIN_FREE_BYTES is the reserve for deletes.'
        : settings.s3
          ? 'Run "npm run storage -- check" on this machine: it names the missing right or setting.'
          : 'Let the user of the service write to the folder of STORAGE_URL, and mount its disk.',
    });
  }
}

/** Messages of errors for callers contain no paths. */
const describeAccessError = (error: unknown): string =>
  isUnavailable(error) && error instanceof Error ? `${error.message}.` : 'Objects cannot be written.';

async function checkSpace({ machine, settings }: OperationsContext): Promise<Finding> {
  const check = 'storage.free_space';
  const { maxUploadBytes, minFreeBytes } = settings;
  const free = await freeBytes(machine.storeFolder);
  const details = { free_bytes: free, min_free_bytes: minFreeBytes, max_upload_bytes: maxUploadBytes };
  if (free < minFreeBytes)
    return problem(check, {
      message: 'Less than MIN_FREE_BYTES is free: uploads are refused.',
      fix: 'Free space: purge the trash, or use a larger disk.',
      details,
    });
  // Renditions need about as much as the original.
  if (free < 2 * maxUploadBytes)
    return warning(check, {
      message: 'The disk has no space for one more upload of MAX_UPLOAD_BYTES with its renditions.',
      fix: 'Use a larger disk or a bucket, or lower MAX_UPLOAD_BYTES.',
      details,
    });
  return ok(check, 'The disk has space.', details);
}

const OPERATIONS_NOT_CHECKED = notChecked(
  'storage.operations',
  'Rights, presigned URLs and CORS of the bucket are not tried.',
  'Ask again with deep=true, or run "npm run storage -- check".',
);

async function checkOperations({ store, settings }: OperationsContext): Promise<Finding> {
  const findings: StoreFinding[] = [];
  for await (const finding of store.diagnose?.(settings.corsOrigins.filter((origin) => origin !== '*')) ?? [])
    findings.push(finding);
  return judgeOperations(findings);
}

function judgeOperations(findings: readonly StoreFinding[]): Finding {
  const check = 'storage.operations';
  const failed = findings.filter(({ problem }) => problem !== undefined);
  const details = {
    tried: findings.length,
    failed: failed.map(({ operation, problem, fix }) => ({ operation, problem, fix })),
  };
  if (failed.length === 0) return ok(check, `All ${findings.length} operations of the store work.`, details);
  const names = failed.map(({ operation }) => operation).join('; ');
  return (failed.some(({ isRequired }) => isRequired) ? problem : warning)(check, {
    message: `The object store fails to: ${names}.`,
    fix: 'Run "npm run storage -- check": it prints the policy, CORS rules or lifecycle rule to set.',
    details,
  });
}

/** `Date` has whole seconds, and the response is on the way for a while. */
const DATE_ERROR_MS = 1000;

export async function checkStoreClock({ settings: { s3 } }: OperationsContext): Promise<Finding[]> {
  if (s3 === undefined) return [];
  const start = Date.now();
  const url = s3.endpoint ?? `https://s3.${s3.region}.amazonaws.com`;
  const probed = await sendProbe({ method: 'HEAD', url, timeoutMs: 5000 });
  const roundTripMs = Date.now() - start;
  const date = 'status' in probed ? Date.parse(headerOf(probed, 'date') ?? '') : Number.NaN;
  if (Number.isNaN(date))
    return [notChecked('clock.store', `The store does not tell the time: ${describeProbe(probed)}.`)];
  return [
    judgeClock('clock.store', {
      other: 'the object store',
      // On average half a second is cut off.
      skewMs: date + 500 - (start + roundTripMs / 2),
      errorMs: DATE_ERROR_MS + roundTripMs / 2,
    }),
  ];
}
