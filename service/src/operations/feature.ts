// Operations: health checks and the overview of providers.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Providers } from '../providers/feature.ts';
import * as healthOperations from './health.ts';
import { healthRoutes, providersOverviewRoutes } from './operations.routes.ts';
import { isOperator } from './operator.hook.ts';
import * as overviewOperations from './providers-overview.ts';

type Needs = AppContext & {
  readonly hosted: Pick<Providers, 'circuits' | 'listWorkers'>;
  readonly asOperator: AsOperator;
};

export function createOperations(needs: Needs) {
  const { config, hosted, asOperator, sandbox, now } = needs;
  const watch: healthOperations.WorkerWatch = { seenAt: now(), isReported: false };
  const health = bind({ ...needs, listWorkers: hosted.listWorkers, watch }, healthOperations);
  const overview = bind({ ...needs, circuits: hosted.circuits }, overviewOperations);
  const routes = healthRoutes({
    ...health,
    sandbox: sandbox.protections,
    isOperator: (headers) => isOperator(headers, config.operatorKeys),
  });
  return {
    operations: { healthRoutes: routes },
    routes: [...providersOverviewRoutes(overview, asOperator), ...routes],
    jobs: {},
  };
}
