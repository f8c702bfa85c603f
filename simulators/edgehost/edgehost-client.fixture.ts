// Test fixture: requests to the API of the simulated account `acc`.
import type { useSimulators } from '../simulators.fixture.ts';

export const ACCOUNT = { accountId: 'acc', apiToken: 'secret-token' } as const;
export const authorized = { Authorization: `Bearer ${ACCOUNT.apiToken}` };

/** The simulators run while the tests do, so URLs are built by functions. */
export function createClient(context: Pick<ReturnType<typeof useSimulators>, 'simulators'>) {
  const url = (path: string) => context.simulators.edgehost.url + path;
  const account = (path: string) => url(`/client/v4/accounts/${ACCOUNT.accountId}/stream${path}`);
  async function api(method: string, path: string, body?: unknown) {
    const answer = await fetch(account(path), {
      method,
      headers: authorized,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, ...(text ? JSON.parse(text) : {}) };
  }
  return { url, account, api };
}
