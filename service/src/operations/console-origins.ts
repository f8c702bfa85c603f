// What the page of the console needs to know of the service: sessions, and the origins of its files.
import { readSessionCookie } from '../auth/sessions/session-cookie.ts';
import { uploadKey } from '../storage/object-key.ts';
import type { OperationsContext } from './context.ts';

/** Whether a request has the cookie of a session, open or ended. */
export const hasSessionCookie = ({ cookie }: { readonly cookie?: string | undefined }): boolean =>
  readSessionCookie(cookie) !== undefined;

/** Any id: only the origin of its URL counts. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Where files come from and go to, beside this service. Hosted providers name their hosts later. */
export async function findConsoleOrigins(ctx: OperationsContext): Promise<readonly string[]> {
  const { cdnBaseUrl } = ctx.settings.delivery;
  const stored = await ctx.store.direct?.presignGet({
    key: uploadKey(NO_ID, NO_ID),
    expiresInSeconds: 1,
    responseContentType: 'video/mp4',
  });
  const origins = [cdnBaseUrl, stored?.url].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  );
  const isHosted = [...ctx.providers.registry.values()].some(({ api }) => api !== undefined);
  return [...new Set(origins), ...(isHosted ? ['https:'] : [])];
}
