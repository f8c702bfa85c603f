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
  readonly hosted: Pick<Providers, 'circuits'>;
  readonly asOperator: AsOperator;
};

export function createOperations(needs: Needs) {
  const { config, hosted, asOperator, sandbox } = needs;
  const health = bind(needs, healthOperations);
  const overview = bind({ ...needs, circuits: hosted.circuits }, overviewOperations);
  return {
    operations: {},
    routes: [
      ...providersOverviewRoutes(overview, asOperator),
      ...healthRoutes({
        ...health,
        sandbox: sandbox.protections,
        isOperator: (headers) => isOperator(headers, config.operatorKeys),
      }),
    ],
    jobs: {},
  };
}
