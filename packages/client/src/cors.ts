// Tells a page that the service refuses from a service that cannot be reached: browsers report both alike.
import { MediaryError } from './errors.ts';

/** Absent outside of pages. */
type Page = { readonly document?: unknown; readonly location?: { readonly origin: string } };

const PROBE = '/api/v1/media';

/** Throws if the service answers, but this page must not read it. The rest of the causes may pass. */
export async function assertOriginAllowed(
  fetchNow: typeof fetch,
  root: string,
  signal: AbortSignal,
): Promise<void> {
  const { document, location } = globalThis as Page;
  if (document === undefined || !location || new URL(root, location.origin).origin === location.origin)
    return;
  const reaches = async (mode: 'cors' | 'no-cors'): Promise<boolean> => {
    const init = { mode, signal, credentials: 'omit', cache: 'no-store' };
    return fetchNow(root + PROBE, init as RequestInit).then(
      () => true,
      () => false,
    );
  };
  if ((await reaches('cors')) || !(await reaches('no-cors'))) return;
  throw new MediaryError(
    `The service does not allow requests of pages of ${location.origin} (CORS). ` +
      `Add ${location.origin} to its setting CORS_ORIGINS.`,
    { errorCode: 'CORS_REFUSED', details: { origin: location.origin, setting: 'CORS_ORIGINS' } },
  );
}
