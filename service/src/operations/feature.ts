// Operations: health checks, the overview of providers, and diagnostics.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import { createConcurrencyLimit } from '../platform/concurrency/concurrency-limit.ts';
import { createSingleFlight } from '../platform/concurrency/single-flight.ts';
import { freeBytes } from '../platform/free-space.ts';
import type { AsOperator } from '../platform/http/route.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import { sendProbe } from '../platform/outbound/probe-request.ts';
import { listMigrations } from '../platform/postgres/migrate.ts';
import { isLoopbackHost } from '../platform/private-address.ts';
import type { ProviderOperations } from '../providers/feature.ts';
import * as databaseChecks from './diagnostics/database-checks.ts';
import * as diagnosticsOperations from './diagnostics/diagnostics.ts';
import { diagnosticsRoutes } from './diagnostics/diagnostics.routes.ts';
import * as echoOperations from './diagnostics/echo.ts';
import type { Check } from './diagnostics/finding.ts';
import { judgeEncoder, judgeHeif, judgeSandbox } from './diagnostics/machine-rules.ts';
import * as publicUrlChecks from './diagnostics/public-url-checks.ts';
import { judgeSettings } from './diagnostics/settings-rules.ts';
import * as storageChecks from './diagnostics/storage-checks.ts';
import { openEvents, readFile } from './diagnostics/stream.ts';
import * as webhookChecks from './diagnostics/webhook-checks.ts';
import * as workerChecks from './diagnostics/worker-checks.ts';
import { createReadinessChecks } from './health.ts';
import { healthRoutes, providersOverviewRoutes } from './operations.routes.ts';
import { assertOperator, isOperator } from './operator.hook.ts';
import * as overviewOperations from './providers-overview.ts';

type Needs = AppContext & {
  readonly hosted: Pick<ProviderOperations, 'circuits' | 'listWorkers'>;
  readonly asOperator: AsOperator;
  readonly version: string;
};

export function createOperations(needs: Needs) {
  const { config, hosted, asOperator, sandbox, now } = needs;
  const watch = { seenAt: now(), isReported: false };
  const overview = bind({ ...needs, circuits: hosted.circuits }, overviewOperations);
  const routes = healthRoutes({
    checkReadiness: createReadinessChecks({ ...needs, listWorkers: hosted.listWorkers, watch }),
    sandbox: sandbox.protections,
    isOperator: (headers) => isOperator(headers, config.operatorKeys),
  });
  return {
    operations: { healthRoutes: routes },
    routes: [...providersOverviewRoutes(overview, asOperator), ...createDiagnosticsRoutes(needs), ...routes],
    jobs: {},
  };
}

/** Requests of operators that run at the same time; each may last a minute. */
const MAX_EXCHANGES = 8;

function createDiagnosticsRoutes(needs: Needs) {
  const limit = createConcurrencyLimit({ total: MAX_EXCHANGES, perKey: MAX_EXCHANGES });
  const shared = { ...needs, limitEchoes: limit, limitStreams: limit };
  return diagnosticsRoutes(
    {
      ...bind(shared, echoOperations),
      ...bind(shared, { openEvents }),
      ...bind(
        {
          ...needs,
          listChecks: listChecks(needs),
          runOnce: createSingleFlight({ maxConcurrent: 2 }),
          recent: new Map() as diagnosticsOperations.RecentRuns,
        },
        diagnosticsOperations,
      ),
      readFile,
      assertOperator: (raw) => assertOperator(raw, needs.config.operatorKeys),
    },
    needs.asOperator,
  );
}

const DEADLINES = {
  default: 10_000,
  publicUrl: 25_000,
  storage: 10_000,
  deepStorage: 40_000,
  webhookEndpoints: 25_000,
};
/** Limits for one webhook endpoint; all of them must respond before the deadline of the check. */
const WEBHOOK_LIMITS = { connectMs: 1500, headMs: 2000, totalMs: 4000, maxRedirects: 0 };

function listChecks(context: Needs) {
  const needs = { ...context, ...context.hosted, freeBytes, sendProbe, listMigrations };
  const { config, sandbox, imageProcessor, encoderVersion, encoderMissing } = context;
  const publicUrl = bind(needs, publicUrlChecks);
  const database = bind(needs, databaseChecks);
  const storage = bind(needs, storageChecks);
  const workers = bind(needs, workerChecks);
  const fetchWebhook = createGuardedFetch({
    allowPrivate: config.outboundAllowPrivate.includes('webhooks'),
    allowsEncodedBody: true,
    limits: WEBHOOK_LIMITS,
  });
  const webhooks = bind({ ...context, fetchWebhook }, webhookChecks);
  const isHeifAllowed = config.mediaTypes.some(({ mime }) => mime === 'image/heic');
  const machine = [
    judgeEncoder({
      role: config.role,
      version: encoderVersion,
      missing: encoderMissing,
      setting: config.videoEncoder,
      videoEncoder: context.videoEncoder,
    }),
    judgeHeif({ isAllowed: isHeifAllowed, canDecode: imageProcessor.canDecodeHeif }),
    judgeSandbox(sandbox.protections),
  ];
  return ({ isDeep }: { readonly isDeep: boolean }): Check[] => [
    { name: 'public_url', deadlineMs: DEADLINES.publicUrl, run: publicUrl.checkPublicUrl },
    { name: 'database', deadlineMs: DEADLINES.default, run: database.checkDatabase },
    { name: 'queue', deadlineMs: DEADLINES.default, run: database.checkQueue },
    {
      name: 'storage',
      deadlineMs: isDeep ? DEADLINES.deepStorage : DEADLINES.storage,
      run: () => storage.checkStorage({ isDeep }),
    },
    { name: 'clock.store', deadlineMs: DEADLINES.default, run: storage.checkStoreClock },
    { name: 'workers', deadlineMs: DEADLINES.default, run: workers.checkWorkers },
    ...workers.listProviderChecks({ isDeep }),
    {
      name: 'webhook_endpoints',
      deadlineMs: DEADLINES.webhookEndpoints,
      run: webhooks.checkWebhookEndpoints,
    },
    { name: 'machine', deadlineMs: DEADLINES.default, run: async () => machine },
    {
      name: 'settings',
      deadlineMs: DEADLINES.default,
      run: async () => judgeSettings(config, { isLoopbackHost }),
    },
  ];
}
