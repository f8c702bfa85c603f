// Queries for partial and final uploads (tus concatenation).
import type { Asset } from '../assets/asset.ts';
import type { UploadLease } from '../lifecycle/change.ts';
import { REQUEST_LEASE_SECONDS } from '../platform/concurrency/lease.ts';
import type { Queries } from '../platform/postgres/database.ts';
import { columns, sql } from '../platform/postgres/sql.ts';
import { resumableColumns } from './resumable-uploads.sql.ts';
import type { FinalPart } from './upload-concat.ts';

const RESUMABLE = columns(resumableColumns);

type UploadAttempt = Pick<Asset, 'id' | 'attempt'>;

/** A resumable upload as it is now, also one that a request writes. */
export const findResumable = (db: Queries, assetId: string, id: string) =>
  db.one(sql('find resumable upload', resumableColumns)`
    select ${RESUMABLE} from uploads where id = ${id} and asset_id = ${assetId} and protocol = 'tus'`);

/** How many partial uploads are open, and the bytes that they announced. */
export const countPartials = (db: Queries, { id, attempt }: UploadAttempt) =>
  db.one(sql('count partial uploads', { open: 'int4', bytes: 'int8' })`
    select count(*)::int4 as open, coalesce(sum(size_bytes), 0)::int8 as bytes from uploads
     where asset_id = ${id} and attempt = ${attempt} and concatenation = 'partial' and finished_at is null`);

/** The final uploads of the attempt of an asset: at most one that is open. */
export const findFinals = (db: Queries, { id, attempt }: UploadAttempt) =>
  db.all(sql('find final uploads', resumableColumns)`
    select ${RESUMABLE} from uploads
     where asset_id = ${id} and attempt = ${attempt} and concatenation = 'final'`);

type NamedParts = {
  readonly ids: readonly string[];
  readonly now: Date;
  /** They stay until the final upload expires. */
  readonly expiresAt: Date;
};

/** Returns those that are partial uploads of this attempt, in any order. */
export const extendParts = (
  tx: Queries,
  { id, attempt }: UploadAttempt,
  { ids, now, expiresAt }: NamedParts,
) =>
  tx.all(sql('extend partial uploads', { id: 'uuid', size_bytes: 'int8', bytes_received: 'int8' })`
    update uploads set expires_at = greatest(expires_at, ${expiresAt}::timestamptz)
     where id = any(${ids}::uuid[]) and asset_id = ${id} and attempt = ${attempt}
       and concatenation = 'partial' and finished_at is null and expires_at > ${now}
    returning id, size_bytes, bytes_received`);

type NewFinal = {
  readonly lease: UploadLease;
  readonly sizeBytes: number;
  readonly parts: readonly FinalPart[];
  readonly expiresAt: Date;
};

/** Undefined if the attempt has an open final upload already. */
export const insertFinal = (
  tx: Queries,
  asset: UploadAttempt & Pick<Asset, 'owner_user_id' | 'announced_size_bytes'>,
  { lease, sizeBytes, parts, expiresAt }: NewFinal,
) =>
  tx.one(sql('insert final upload', resumableColumns)`
    insert into uploads
      (id, asset_id, owner_user_id, attempt, protocol, size_bytes, reserved_bytes, lease_holder, lease_until,
       expires_at, concatenation, parts)
    values (${lease.upload}::uuid, ${asset.id}::uuid, ${asset.owner_user_id}::text, ${asset.attempt}::int4,
            'tus', ${sizeBytes}::int8, ${asset.announced_size_bytes ?? 0}::int8, ${lease.holder}::uuid,
            now() + make_interval(secs => ${REQUEST_LEASE_SECONDS}), ${expiresAt}::timestamptz,
            'final', ${JSON.stringify(parts)}::jsonb)
    on conflict (asset_id, attempt) where concatenation = 'final' and finished_at is null do nothing
    returning ${RESUMABLE}`);
