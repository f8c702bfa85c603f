// Queries for multipart uploads. A completion has the lease under the id of the upload, so that it can be
// repeated; a removal uses another id.
import type { Asset } from '../../assets/asset.ts';
import type { UploadLease } from '../../lifecycle/decisions/change.ts';
import { LEASE_SECONDS } from '../../platform/concurrency/lease.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import { columns, sql } from '../../platform/postgres/sql.ts';
import { uploadRow } from '../../tables-rows.ts';
import { pick } from '../../tables.ts';
import { TAKES_BYTES } from '../byte-conditions.sql.ts';
import type { MultipartRow } from './multipart-row.ts';

const multipartColumns = pick(uploadRow, [
  'id',
  'asset_id',
  'attempt',
  'target',
  'size_bytes',
  'bytes_received',
  'expires_at',
  'finished_at',
]);

const MULTIPART = columns(multipartColumns);

type NewMultipart = {
  readonly id: string;
  readonly target: MultipartRow['target'];
  readonly sizeBytes: number | null;
  readonly expiresAt: Date;
};

/** Undefined if the asset has `maxOpen` open uploads already. */
export const insertMultipart = async (
  tx: Queries,
  asset: Pick<Asset, 'id' | 'attempt' | 'owner_user_id' | 'announced_size_bytes'>,
  { maxOpen, id, target, sizeBytes, expiresAt }: NewMultipart & { readonly maxOpen: number },
) =>
  (await tx.one(sql('insert multipart upload', multipartColumns)`
    insert into uploads
      (id, asset_id, owner_user_id, attempt, protocol, target, size_bytes, reserved_bytes, lease_holder,
       expires_at)
    select ${id}::uuid, ${asset.id}::uuid, ${asset.owner_user_id}::text, ${asset.attempt}::int4,
           's3-multipart', ${JSON.stringify(target)}::jsonb, ${sizeBytes}::int8,
           ${asset.announced_size_bytes ?? 0}::int8, ${id}::uuid,
           ${expiresAt}::timestamptz
     where ${maxOpen}::int4 > (
       select count(*) from uploads
        where asset_id = ${asset.id} and protocol = 's3-multipart' and finished_at is null)
    returning ${MULTIPART}`)) as MultipartRow | undefined;

export const findMultipart = async (db: Queries, assetId: string, id: string) =>
  (await db.one(sql('find multipart upload', multipartColumns)`
    select ${MULTIPART} from uploads
     where id = ${id} and asset_id = ${assetId} and protocol = 's3-multipart'`)) as MultipartRow | undefined;

type SignedBytes = {
  readonly id: string;
  readonly bytes: number;
  readonly expiresAt: Date;
  /** Since the upload was created: it expires then, although parts arrive. */
  readonly maxAgeSeconds: number;
};

/** Counts the bytes of signed parts, and moves the expiry: parts that arrive keep an upload open. */
export const recordSignedBytes = (db: Queries, { id, bytes, expiresAt, maxAgeSeconds }: SignedBytes) =>
  db.one(sql('record signed bytes')`
    update uploads set bytes_received = greatest(bytes_received, ${bytes}::int8),
                       expires_at = least(greatest(expires_at, ${expiresAt}::timestamptz),
                                          created_at + make_interval(secs => ${maxAgeSeconds}))
     where id = ${id} and finished_at is null`);

/** Claims the upload for its completion; undefined if it has expired, or if somebody removes it. */
export const claimCompletion = (
  db: Queries,
  id: string,
  { now, expiresAt, maxAgeSeconds }: { now: Date; expiresAt: Date; maxAgeSeconds: number },
) =>
  db.one(sql('claim completion', { id: 'uuid' })`
    update uploads
       set lease_holder = id, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
           expires_at = least(greatest(expires_at, ${expiresAt}::timestamptz),
                              created_at + make_interval(secs => ${maxAgeSeconds}))
     where id = ${id} and finished_at is null and expires_at > ${now}
       and (lease_holder = id or lease_until is null or lease_until < now())
    returning id`);

/** Ends a completion that changed nothing. */
export const releaseCompletion = (db: Queries, id: string) =>
  db.one(sql('release completion')`
    update uploads set lease_until = null where id = ${id} and lease_holder = ${id} and finished_at is null`);

/** Claims an upload for its removal: it cannot finish any more. Undefined if a completion runs. */
export const claimRemoval = async (db: Queries, { upload, holder }: UploadLease) =>
  (await db.one(sql('claim removal', multipartColumns)`
    update uploads
       set lease_holder = ${holder}::uuid, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
     where id = ${upload} and protocol = 's3-multipart' and finished_at is null
       and (lease_until is null or lease_until < now())
    returning ${MULTIPART}`)) as MultipartRow | undefined;

/** Open uploads of an asset, except the latest ones. */
export const findOlderMultiparts = (db: Queries, assetId: string, keep: number) =>
  db.all(sql('older multipart uploads', { id: 'uuid' })`
    select id from uploads
     where asset_id = ${assetId} and protocol = 's3-multipart' and finished_at is null
     order by created_at desc offset ${keep}`);

/** Uploads whose completion began and did not end, because their process ended or the store failed. */
export const findInterruptedCompletions = (db: Queries, now: Date, limit: number) =>
  db.all(sql('interrupted completions', { id: 'uuid', asset_id: 'uuid' })`
    select uploads.id, asset_id
      from uploads join assets on assets.id = uploads.asset_id and assets.attempt = uploads.attempt
     where protocol = 's3-multipart' and finished_at is null and lease_holder = uploads.id
       and lease_until < now() and uploads.expires_at > ${now}
       and ${TAKES_BYTES}
     limit ${limit}`);
