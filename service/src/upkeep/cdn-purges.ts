// Records what a CDN has to purge, and tells it with a signed request (contract B5).
import type { CdnPurge } from '@mediary/contract/schemas/admin/operators';
import { signWebhook } from '../events/endpoints/webhook-signature.ts';
import type { JobPayloads } from '../jobs.ts';
import { badRequest } from '../platform/http/errors.ts';
import { createGuardedFetch } from '../platform/outbound/guarded-fetch.ts';
import { OutboundError } from '../platform/outbound/outbound-error.ts';
import { isUuid } from '../platform/values/uuid.ts';
import { ENTRY_FILES } from '../playback/served-file.ts';
import type { UpkeepContext } from './context.ts';
import { deletePurgesBefore, insertPurge, listPurgeRows, recordPurgeAttempt } from './cdn-purges.sql.ts';

/** The operator chose the URL, and the time is shorter than the lease of the job. */
const fetchPurgeUrl = createGuardedFetch({ allowPrivate: true, limits: { totalMs: 20_000 } });

type Purge = JobPayloads['purge-cdn'];

/** Throws until the CDN confirms the purge with a status of 2xx, so that the job is retried. */
export async function purgeCdn(ctx: UpkeepContext, purge: Purge): Promise<void> {
  const { db, settings, clocks } = ctx;
  const { purgeUrl } = settings.delivery;
  const row = { asset_id: purge.assetId, playback_version: purge.playbackVersion };
  await insertPurge(db, { ...row, reason: purge.reason, prefix: purge.prefix, created_at: clocks.now() });
  // Without a URL, purges are only listed.
  if (purgeUrl === undefined) return;
  const error = await sendPurge(ctx, purgeUrl, purge);
  await recordPurgeAttempt(db, {
    ...row,
    last_error: error ?? null,
    delivered_at: error === undefined ? clocks.now() : null,
  });
  if (error !== undefined) throw new Error(`CDN_PURGE_URL: ${error}`);
}

/** Returns why the purge was not confirmed; undefined if it was. */
async function sendPurge(
  { settings, clocks }: UpkeepContext,
  url: string,
  { assetId, playbackVersion, reason, prefix }: Purge,
): Promise<string | undefined> {
  const id = `${assetId}.${playbackVersion}`;
  const body = JSON.stringify({
    id,
    reason,
    asset_id: assetId,
    tags: [assetId],
    prefixes: [prefix],
    urls: ENTRY_FILES.map((file) => `${prefix}${file}`),
  });
  const { purgeSecrets } = settings.delivery;
  const signature = purgeSecrets.length > 0 ? signWebhook({ id, at: clocks.now(), body }, purgeSecrets) : {};
  const headers = { 'content-type': 'application/json', ...signature };
  try {
    const { status, body: answer } = await fetchPurgeUrl({
      method: 'POST',
      url,
      headers,
      body: Buffer.from(body),
    });
    answer.destroy();
    return status >= 200 && status < 300 ? undefined : `status ${status}`;
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return error.message;
  }
}

type ListOptions = { readonly limit: number; readonly cursor?: string; readonly delivered?: boolean };
type PurgePage = { items: CdnPurge[]; next_cursor: string | null };

/** Newest first. */
export async function listPurges({ db }: UpkeepContext, options: ListOptions): Promise<PurgePage> {
  const { limit, cursor, delivered } = options;
  const rows = await listPurgeRows(db, { limit: limit + 1, delivered, ...readPurgeCursor(cursor) });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const items = page.map(({ created_at, delivered_at, ...row }) => ({
    ...row,
    created_at: created_at.toISOString(),
    delivered_at: delivered_at?.toISOString() ?? null,
  }));
  return { items, next_cursor: last ? `${last.asset_id}.${last.playback_version}` : null };
}

/** The asset and the playback version of the last purge on the previous page. */
function readPurgeCursor(cursor: string | undefined) {
  if (cursor === undefined) return {};
  const [, afterId = '', version] = /^([^.]+)\.(\d{1,9})$/.exec(cursor) ?? [];
  if (!isUuid(afterId))
    throw badRequest('Invalid cursor. Send the next_cursor of the previous page.', {
      field: 'cursor',
      reason: 'invalid_cursor',
    });
  return { afterId, afterVersion: Number(version) };
}

const DAY_MS = 86_400_000;

export async function deleteOldPurges({ db, clocks, settings }: UpkeepContext): Promise<void> {
  const now = await clocks.databaseNow();
  await deletePurgesBefore(db, new Date(now.getTime() - settings.webhookRetentionDays * DAY_MS));
}
