// The checks of the diagnostics, in the order of their findings.
import type { Finding } from '@mediary/checks/finding';
import { isLoopbackHost } from '../../platform/outbound/private-address.ts';
import { describeRemedies } from '../../platform/process/sandbox.ts';
import type { OperationsContext } from '../context.ts';
import type { Check } from './check.ts';
import { checkDatabase, checkQueue } from './database-checks.ts';
import { judgeEncoder, judgeHeif, judgeSandbox } from './machine-rules.ts';
import { checkPublicUrl } from './public-url-checks.ts';
import { judgeSettings } from './settings-rules.ts';
import { checkStorage, checkStoreClock } from './storage-checks.ts';
import { checkWebhookEndpoints } from './webhook-checks.ts';
import { checkWorkers, listProviderChecks } from './worker-checks.ts';

const DEFAULT_DEADLINE_MS = 10_000;
/** Many requests through a proxy, or to endpoints that are slow. */
const LONG_DEADLINE_MS = 25_000;
const DEEP_STORAGE_DEADLINE_MS = 40_000;

export function listChecks(ctx: OperationsContext, { isDeep }: { readonly isDeep: boolean }): Check[] {
  const check = (name: string, run: Check['run'], deadlineMs = DEFAULT_DEADLINE_MS): Check => ({
    name,
    run,
    deadlineMs,
  });
  return [
    check('public_url', () => checkPublicUrl(ctx), LONG_DEADLINE_MS),
    check('database', () => checkDatabase(ctx)),
    check('queue', () => checkQueue(ctx)),
    check('storage', () => checkStorage(ctx, { isDeep }), isDeep ? DEEP_STORAGE_DEADLINE_MS : undefined),
    check('clock.store', () => checkStoreClock(ctx)),
    check('workers', () => checkWorkers(ctx)),
    ...listProviderChecks(ctx, { isDeep }),
    check('webhook_endpoints', () => checkWebhookEndpoints(ctx), LONG_DEADLINE_MS),
    check('machine', async () => judgeMachine(ctx)),
    check('settings', async () => judgeSettings(ctx.settings, { isLoopbackHost })),
  ];
}

function judgeMachine({ settings, machine }: OperationsContext): Finding[] {
  const isHeifAllowed = settings.mediaTypes.some(({ mime }) => mime === 'image/heic');
  return [
    judgeEncoder({
      role: settings.role,
      version: machine.encoderVersion,
      missing: machine.encoderMissing,
      setting: settings.videoEncoder,
      videoEncoder: machine.videoEncoder,
    }),
    judgeHeif({ isAllowed: isHeifAllowed, canDecode: machine.canDecodeHeif }),
    checkSandbox(machine),
  ];
}

function checkSandbox({ protections }: OperationsContext['machine']): Finding {
  const missing = Object.keys(protections).filter((name) => !protections[name]);
  const remedies = describeRemedies(missing, process.getuid?.() === 0);
  return judgeSandbox({ protections, missing, remedies });
}
