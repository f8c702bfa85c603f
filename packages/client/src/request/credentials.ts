// Credentials of requests: the service key, or a token whose source may need the network itself.
import { toConnectionError } from '../errors.ts';

/**
 * A bearer token, or a function that returns a current one. It is called for every request. A TypeError of
 * it, as `fetch` throws without a network, counts as a lost connection.
 */
export type TokenSource = string | (() => string | Promise<string>);

type Credentials = { readonly token?: TokenSource | undefined; readonly serviceKey?: string | undefined };

/** The header that authorizes a request. */
export async function toCredentials({ token, serviceKey }: Credentials): Promise<Record<string, string>> {
  if (serviceKey !== undefined) return { 'x-service-key': serviceKey };
  if (token === undefined) return {};
  return { authorization: `Bearer ${typeof token === 'function' ? await readToken(token) : token}` };
}

/** Most sources use `fetch`. Other errors are not transient, such as that of a user who has signed out. */
async function readToken(source: () => string | Promise<string>): Promise<string> {
  try {
    return await source();
  } catch (error) {
    if (isFetchFailure(error)) throw toConnectionError('The token source failed', error);
    throw error;
  }
}

/** `fetch` rejects with a TypeError without a network, and with a DOMException after its own time limit. */
const isFetchFailure = (error: unknown): boolean =>
  error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError');
