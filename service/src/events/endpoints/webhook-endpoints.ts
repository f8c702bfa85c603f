// Creates, edits and deletes webhook endpoints, and rotates their secrets (contract B8).
import type { EndpointStatus } from '@mediary/contract/enums';
import type {
  CreateEndpointRequest,
  UpdateEndpointRequest,
} from '@mediary/contract/schemas/webhook-endpoints';
import { isPlainText, notPlainText } from '../../platform/plain-text.ts';
import { createCursor, readCursor } from '../../auth/list-cursor.ts';
import type { Secret } from '../../auth/secret.ts';
import { openSecret, sealSecret } from '../../auth/secret-box.ts';
import { badRequest, conflict, notFound } from '../../platform/errors.ts';
import {
  type AddressRefusal,
  parseOutboundUrl,
  URL_REASONS,
} from '../../platform/outbound/address-policy.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { isUuid } from '../../platform/uuid.ts';
import { uuidV7 } from '../../platform/uuid-v7.ts';
import { editEndpoint, hasPreviousSecret, type WebhookEndpoint } from './webhook-endpoint.ts';
import {
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  lockEndpoint,
  lockEndpointCount,
  replaceSecret,
  restoreSecrets,
  updateEndpoint,
} from './webhook-endpoints.sql.ts';
import { createWebhookSecret } from './webhook-signature.ts';

type EndpointNeeds = {
  readonly db: Database;
  readonly urlSecrets: readonly Secret[];
  readonly maxCount: number;
  readonly allowPrivate: boolean;
  readonly now: () => Date;
};

type EndpointWithSecret = { readonly endpoint: WebhookEndpoint; readonly secret: Secret };
type PageRequest = { readonly limit: number; readonly cursor?: string | undefined };

/** The previous secret signs too for so long after a rotation. */
const OVERLAP_MS = 24 * 3_600_000;

export async function createEndpoint(
  needs: EndpointNeeds,
  request: CreateEndpointRequest,
): Promise<EndpointWithSecret> {
  assertValid(request, needs);
  const id = uuidV7();
  const secret = createWebhookSecret();
  const endpoint = await needs.db.transaction(async (tx) => {
    await lockEndpointCount(tx);
    const status: EndpointStatus = request.enabled === false ? 'disabled' : 'enabled';
    const added = {
      id,
      url: request.url,
      events: [...new Set(request.events ?? [])],
      description: request.description ?? null,
      status,
      secret: sealSecret(boxOf(needs, id), secret),
      created_at: needs.now(),
    };
    return insertEndpoint(tx, added, needs.maxCount);
  });
  if (!endpoint)
    throw conflict(`The service has ${needs.maxCount} webhook endpoints, the maximum. Delete one first.`, {
      reason: 'too_many_endpoints',
      limit: needs.maxCount,
    });
  return { endpoint, secret };
}

/** Throws NOT_FOUND. */
export async function getEndpoint({ db }: Pick<EndpointNeeds, 'db'>, id: string): Promise<WebhookEndpoint> {
  return getFound(await findEndpoint(db, parseId(id)));
}

/** Newest first. */
export async function listEndpointPage(
  { db, urlSecrets }: Pick<EndpointNeeds, 'db' | 'urlSecrets'>,
  { limit, cursor }: PageRequest,
): Promise<{ readonly items: readonly WebhookEndpoint[]; readonly next: string | null }> {
  const scope = { list: 'webhook endpoints' };
  const belowId = cursor === undefined ? undefined : readCursor(urlSecrets, scope, cursor);
  const rows = await listEndpoints(db, belowId, limit + 1);
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  return { items, next: rows.length > limit && last ? createCursor(urlSecrets, scope, last.id) : null };
}

export async function changeEndpoint(
  needs: EndpointNeeds,
  id: string,
  request: UpdateEndpointRequest,
): Promise<WebhookEndpoint> {
  assertValid(request, needs);
  const known = parseId(id);
  return needs.db.transaction(async (tx) => {
    const endpoint = getFound(await lockEndpoint(tx, known));
    return getFound(await updateEndpoint(tx, known, editEndpoint(endpoint, request)));
  });
}

/** Throws NOT_FOUND. Deliveries that are pending are not sent any more. */
export async function removeEndpoint({ db }: Pick<EndpointNeeds, 'db'>, id: string): Promise<string> {
  return getFound(await deleteEndpoint(db, parseId(id))).id;
}

export async function rotateSecret(needs: EndpointNeeds, id: string): Promise<EndpointWithSecret> {
  const known = parseId(id);
  const secret = createWebhookSecret();
  const box = sealSecret(boxOf(needs, known), secret);
  const endpoint = getFound(await replaceSecret(needs.db, known, { secret: box, overlapMs: OVERLAP_MS }));
  return { endpoint, secret };
}

type SecretNeeds = Pick<EndpointNeeds, 'db' | 'urlSecrets' | 'now'>;
type StoredSecrets = Pick<WebhookEndpoint, 'id' | 'secret' | 'previous_secret' | 'previous_secret_until'>;

/** The secrets that sign now; none if URL_SIGNING_SECRET was replaced without its `_PREVIOUS`. */
export async function getSigningSecrets(
  needs: SecretNeeds,
  endpoint: StoredSecrets,
): Promise<readonly Secret[]> {
  const { secret, previous_secret: previous } = endpoint;
  const boxes = previous && hasPreviousSecret(endpoint, needs.now()) ? [secret, previous] : [secret];
  const scope = boxOf(needs, endpoint.id);
  const opened = boxes.map((box) => openSecret(scope, box)).filter((found) => found !== undefined);
  const [current, before] = opened;
  if (opened.length === boxes.length && current && opened.some(({ isCurrent }) => !isCurrent))
    await restoreSecrets(needs.db, endpoint, {
      secret: sealSecret(scope, current.secret),
      previous: before ? sealSecret(scope, before.secret) : null,
    });
  return opened.map((found) => found.secret);
}

const boxOf = ({ urlSecrets }: Pick<EndpointNeeds, 'urlSecrets'>, id: string) =>
  ({ roots: urlSecrets, purpose: 'webhook-secret', context: id }) as const;

/** Secrets are bound to ids in lower case. Throws NOT_FOUND. */
const parseId = (id: string): string => getFound(isUuid(id) ? id.toLowerCase() : undefined);

function getFound<T>(found: T | undefined): T {
  if (found === undefined) throw notFound('No such webhook endpoint');
  return found;
}

function assertValid(
  { url, description }: UpdateEndpointRequest,
  { allowPrivate }: Pick<EndpointNeeds, 'allowPrivate'>,
): void {
  if (description && !isPlainText(description)) throw notPlainText('description');
  if (url === undefined) return;
  const parsed = parseOutboundUrl(url, { allowPrivate });
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
