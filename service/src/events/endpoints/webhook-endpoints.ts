// Creates, edits and deletes webhook endpoints, and rotates their secrets (contract B8).
import type { EndpointStatus } from '@mediary/contract/enums';
import type {
  CreateEndpointRequest,
  UpdateEndpointRequest,
} from '@mediary/contract/schemas/webhook-endpoints';
import { isPlainText, notPlainText } from '../../platform/values/plain-text.ts';
import { createCursor, readCursor } from '../../auth/list-cursor.ts';
import type { Secret } from '../../auth/secret.ts';
import { openSecret, sealSecret } from '../../auth/secret-box.ts';
import { badRequest, conflict, notFound } from '../../platform/http/errors.ts';
import {
  type AddressRefusal,
  parseOutboundUrl,
  URL_REASONS,
} from '../../platform/outbound/address-policy.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { EventsContext } from '../context.ts';
import { editEndpoint, hasPreviousSecret, type WebhookEndpoint } from './webhook-endpoint.ts';
import {
  deleteEndpointRow,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockEndpointCount,
  replaceSecret,
  restoreSecrets,
  updateEndpointRow,
} from './webhook-endpoints.sql.ts';
import { createWebhookSecret } from './webhook-signature.ts';

type EndpointWithSecret = { readonly endpoint: WebhookEndpoint; readonly secret: Secret };
type PageRequest = { readonly limit: number; readonly cursor?: string | undefined };

/** After a rotation, the previous secret also signs during this time. */
const OVERLAP_MS = 24 * 3_600_000;

export async function createEndpoint(
  ctx: EventsContext,
  request: CreateEndpointRequest,
): Promise<EndpointWithSecret> {
  assertValid(ctx, request);
  const { maxCount } = ctx.settings.webhookEndpoints;
  const id = uuidV7();
  const secret = createWebhookSecret();
  const endpoint = await ctx.db.transaction(async (tx) => {
    await lockEndpointCount(tx);
    const status: EndpointStatus = request.enabled === false ? 'disabled' : 'enabled';
    const added = {
      id,
      url: request.url,
      events: [...new Set(request.events ?? [])],
      description: request.description ?? null,
      status,
      secret: sealSecret(toBoxScope(ctx, id), secret),
      created_at: ctx.clocks.now(),
    };
    return insertEndpoint(tx, added, maxCount);
  });
  if (!endpoint)
    throw conflict(`The service has ${maxCount} webhook endpoints, the maximum. Delete one first.`, {
      reason: 'too_many_endpoints',
      limit: maxCount,
    });
  return { endpoint, secret };
}

/** Throws NOT_FOUND. */
export async function getEndpoint({ db }: EventsContext, id: string): Promise<WebhookEndpoint> {
  return getFound(await findEndpoint(db, parseId(id)));
}

/** Newest first. */
export async function listEndpointPage(
  { db, urlSecrets }: EventsContext,
  { limit, cursor }: PageRequest,
): Promise<{ readonly items: readonly WebhookEndpoint[]; readonly next: string | null }> {
  const scope = { list: 'webhook endpoints' };
  const belowId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await listEndpoints(db, belowId, limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? createCursor(urlSecrets, scope, last.id) : null };
}

export async function updateEndpoint(
  ctx: EventsContext,
  id: string,
  request: UpdateEndpointRequest,
): Promise<WebhookEndpoint> {
  assertValid(ctx, request);
  const known = parseId(id);
  return ctx.db.transaction(async (tx) => {
    const endpoint = getFound(await lockEndpoint(tx, known));
    return getFound(await updateEndpointRow(tx, known, editEndpoint(endpoint, request)));
  });
}

/** Throws NOT_FOUND. The service stops sending pending deliveries. */
export async function deleteEndpoint({ db }: EventsContext, id: string): Promise<string> {
  return getFound(await deleteEndpointRow(db, parseId(id))).id;
}

export async function rotateSecret(ctx: EventsContext, id: string): Promise<EndpointWithSecret> {
  const known = parseId(id);
  const secret = createWebhookSecret();
  const box = sealSecret(toBoxScope(ctx, known), secret);
  const endpoint = getFound(await replaceSecret(ctx.db, known, { secret: box, overlapMs: OVERLAP_MS }));
  return { endpoint, secret };
}

type StoredSecrets = Pick<WebhookEndpoint, 'id' | 'secret' | 'previous_secret' | 'previous_secret_until'>;

/** The secrets that sign now; none after a change of URL_SIGNING_SECRET without its `_PREVIOUS`. */
export async function getSigningSecrets(
  ctx: Pick<EventsContext, 'db' | 'urlSecrets' | 'clocks'>,
  endpoint: StoredSecrets,
): Promise<readonly Secret[]> {
  const { secret, previous_secret: previous } = endpoint;
  const boxes = previous && hasPreviousSecret(endpoint, ctx.clocks.now()) ? [secret, previous] : [secret];
  const scope = toBoxScope(ctx, endpoint.id);
  const opened = boxes.map((box) => openSecret(scope, box)).filter((found) => found !== undefined);
  const [current, before] = opened;
  if (opened.length === boxes.length && current && opened.some(({ isCurrent }) => !isCurrent))
    await restoreSecrets(ctx.db, endpoint, {
      secret: sealSecret(scope, current.secret),
      previous: before ? sealSecret(scope, before.secret) : null,
    });
  return opened.map((found) => found.secret);
}

const toBoxScope = ({ urlSecrets }: Pick<EventsContext, 'urlSecrets'>, id: string) =>
  ({ roots: urlSecrets, purpose: 'webhook-secret', context: id }) as const;

/** Secrets are bound to ids in lower case. Throws NOT_FOUND. */
const parseId = (id: string): string => getFound(isUuid(id) ? id.toLowerCase() : undefined);

function getFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound('No such webhook endpoint');
  return found;
}

function assertValid({ settings }: EventsContext, { url, description }: UpdateEndpointRequest): void {
  if (description && !isPlainText(description)) throw notPlainText('description');
  if (url === undefined) return;
  const parsed = parseOutboundUrl(url, { allowPrivate: settings.outboundAllowPrivate.includes('webhooks') });
  if ('refused' in parsed)
    throw badRequest(`url cannot receive webhooks: ${REFUSALS[parsed.refused]}.`, {
      field: 'url',
      reason: URL_REASONS[parsed.refused],
    });
}

const REFUSALS: Readonly<Record<AddressRefusal, string>> = {
  invalid_url: 'it must be an absolute URL without control characters',
  scheme: 'its scheme must be http or https',
  credentials: 'it must not contain a user name or password',
  port: 'webhooks may not use its port',
  private_address: 'its address is not public. OUTBOUND_ALLOW_PRIVATE=webhooks allows private addresses',
  downgrade: 'it leads from https to http',
};
