// Authentication of the edgehost API by the token of the account in the path; base path of its routes.
import { type Call, header, type Route } from '../route.ts';
import type { Account } from './account.ts';
import { failure, success } from './envelope.ts';

type Handler = (account: Account, call: Call) => ReturnType<Route['run']>;
export type ApiRoute = readonly [name: string, method: string, path: string, handler: Handler];

export const VIDEO = '/(?<uid>[0-9a-f]{32})';

/** Paths are relative to `/client/v4/accounts/{account}/stream`. */
export function apiRoutes(account: Account, routes: readonly ApiRoute[]): Route[] {
  const guard = (call: Call) =>
    isAllowed(account, call) ? undefined : failure(403, 10000, 'Authentication error');
  return routes.map(([name, method, path, handler]) => ({
    name,
    group: 'api',
    method,
    path: new RegExp(`^/client/v4/accounts/(?<account>[\\w-]+)/stream${path}$`),
    guard,
    run: (call) => handler(account, call),
  }));
}

/** Both endpoints that verify a token: tokens belong to a user or to an account. */
export const verifyRoutes = (account: Account): Route[] =>
  [
    ['verify-user-token', '/user'],
    ['verify-account-token', `/accounts/${account.settings.accountId}`],
  ].map(([name = '', owner = '']) => ({
    name,
    group: 'api',
    method: 'GET',
    path: new RegExp(`^/client/v4${owner}/tokens/verify$`),
    guard: (call) => (hasToken(account, call) ? undefined : failure(401, 1000, 'Invalid API Token')),
    run: () => success({ id: '0'.repeat(32), status: 'active' }),
  }));

const hasToken = ({ settings }: Account, call: Call) =>
  header(call, 'Authorization') === `Bearer ${settings.apiToken}`;

const isAllowed = (account: Account, call: Call) =>
  call.params['account'] === account.settings.accountId && hasToken(account, call);
