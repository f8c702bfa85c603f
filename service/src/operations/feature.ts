// Operations: health checks, and what operators see and set.
import type { AppContext } from '../app-context.ts';
import { bind } from '../platform/bind.ts';
import type { AsOperator } from '../platform/http/route.ts';
import type { Providers } from '../providers/feature.ts';
import type { Usage } from '../usage/feature.ts';
import * as healthOperations from './health.ts';
import { healthRoutes } from './health.routes.ts';
import { isOperator } from './operator.hook.ts';
import { ownerLimitsRoutes } from './owner-limits.routes.ts';
import * as overviewOperations from './providers-overview.ts';
import { providersOverviewRoutes } from './providers-overview.routes.ts';

type Needs = AppContext & {
  readonly usage: Usage;
  readonly hosted: Pick<Providers, 'circuits'>;
  readonly asOperator: AsOperator;
};

export function createOperations(needs: Needs) {
  const { config, usage, hosted, asOperator, sandbox } = needs;
  const health = bind(needs, healthOperations);
  const overview = bind({ ...needs, circuits: hosted.circuits }, overviewOperations);
  return {
    operations: {},
    routes: [
      ...providersOverviewRoutes(overview, asOperator),
      ...ownerLimitsRoutes(usage, asOperator),
      ...healthRoutes({
        ...health,
        sandbox: sandbox.protections,
        isOperator: (headers) => isOperator(headers, config.operatorKeys),
      }),
    ],
    jobs: {},
  };
}
