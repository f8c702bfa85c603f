// The back end: it knows who the user is, and gives its page access tokens for the media service.
import { randomUUID } from 'node:crypto';
import { createMediary, isMediaryError, verifyWebhook } from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';
import { type Context, Hono } from 'hono';
import { getSignedCookie, setSignedCookie } from 'hono/cookie';
import type { Page } from './bundle-page.ts';
import type { Settings } from './settings.ts';

const TOKEN_LIFETIME_S = 600;
/** Assets in the list of the page. */
const LIST_LENGTH = 20;

export function createApp(
  { mediaryUrl, accessTokenSecret, serviceKey, webhookSecret }: Omit<Settings, 'port'>,
  page: Page,
): Hono {
  const mediary = createMediary({ baseUrl: mediaryUrl, serviceKey });
  /** Names of ready videos, by the id of their event: an event that arrives again changes nothing. */
  const readyVideos = new Map<string, { readonly user: string; readonly filename: string }>();

  /** Throws if the signature is not valid. */
  async function receiveEvent(payload: string, headers: Headers): Promise<void> {
    const event = await verifyWebhook({ payload, headers, secrets: webhookSecret ?? '' });
    if (event.type !== 'asset.ready' || !event.asset) return;
    readyVideos.set(event.id, { user: event.owner_user_id, filename: event.asset.filename });
  }

  /** Stands for the login of your application: each browser is a user of its own. */
  async function findUser(context: Context): Promise<string> {
    const known = await getSignedCookie(context, accessTokenSecret, 'user');
    const user = known || `visitor_${randomUUID()}`;
    if (!known)
      await setSignedCookie(context, 'user', user, accessTokenSecret, { httpOnly: true, sameSite: 'Strict' });
    return user;
  }

  return new Hono()
    .get('/', async (context) => {
      await findUser(context);
      return context.html(page.html);
    })
    .get('/:script{.+\\.js}', (context) => {
      const script = page.scripts.get(context.req.path);
      if (script === undefined) return context.notFound();
      return context.body(script, 200, { 'content-type': 'text/javascript; charset=utf-8' });
    })
    .post('/media-token', async (context) => {
      const token = await signAccessToken({
        secret: accessTokenSecret,
        userId: await findUser(context),
        expiresInS: TOKEN_LIFETIME_S,
      });
      return context.text(token, 200, { 'cache-control': 'no-store' });
    })
    .post('/webhooks/media', async (context) => {
      if (webhookSecret === undefined) return context.notFound();
      try {
        await receiveEvent(await context.req.text(), context.req.raw.headers);
        return context.body(null, 204);
      } catch (error) {
        if (isMediaryError(error)) return context.body(null, 401);
        throw error;
      }
    })
    .get('/notices', async (context) => {
      const user = await findUser(context);
      const own = [...readyVideos.values()].filter((video) => video.user === user);
      return context.json(
        own.map(({ filename }) => `${filename} is ready`),
        200,
        { 'cache-control': 'no-store' },
      );
    })
    .get('/videos', async (context) => {
      const { items } = await mediary.media
        .list({ kind: 'video', limit: LIST_LENGTH }, { ownerUserId: await findUser(context) })
        .page();
      return context.json(
        items.map(({ id, filename, stream_status: status }) => ({ id, filename, status })),
        200,
        { 'cache-control': 'no-store' },
      );
    });
}
