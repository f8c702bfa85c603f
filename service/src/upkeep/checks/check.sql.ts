// SQL queries of storage checks: the check, its findings, and the rows that it compares.
import type {
  CheckStage,
  CheckStatus,
  FindingKind,
  FindingRepair,
} from '@mediary/contract/schemas/admin/storage-checks';
import type { Asset } from '../../assets/asset.ts';
import type { Queries } from '../../platform/postgres/database.ts';
import type { RowOf } from '../../platform/postgres/row.ts';
import { columns, columnsOf, definitions, sql } from '../../platform/postgres/sql.ts';
import { assetRow, pick, TABLES } from '../../tables.ts';

const CHECK = TABLES.storage_checks;
const FINDING = TABLES.storage_findings;
const FOUND = pick(FINDING, [
  'kind',
  'repair',
  'asset_id',
  'key',
  'provider',
  'provider_video_id',
  'size_bytes',
  'expected_size_bytes',
]);

/** Later checks delete the others. */
export const KEPT_CHECKS = 20;

export type CheckOptions = {
  readonly repair: boolean;
  readonly deleteUnknown: boolean;
  readonly checksums: boolean;
  readonly orphanAgeSeconds: number;
};

type CheckCounts = {
  readonly objects: number;
  readonly assets: number;
  readonly videos: number;
  readonly findings: number;
  readonly repaired: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly skippedProviders: readonly string[];
};

type CheckColumns = {
  options: CheckOptions;
  status: CheckStatus;
  stage: CheckStage;
  counts: CheckCounts;
};
export type CheckRow = Readonly<Omit<RowOf<typeof CHECK>, keyof CheckColumns> & CheckColumns>;

type FindingColumns = { kind: FindingKind; repair: FindingRepair };
export type FindingRow = Readonly<Omit<RowOf<typeof FINDING>, keyof FindingColumns> & FindingColumns>;
/** What a check has found, before it is recorded. */
export type Finding = Pick<FindingRow, 'kind' | 'repair'> & Partial<Pick<FindingRow, keyof typeof FOUND>>;

/** Undefined if another check is open. */
export const insertCheck = async (
  db: Queries,
  check: Pick<CheckRow, 'id' | 'options' | 'counts' | 'created_at'>,
): Promise<CheckRow | undefined> =>
  (await db.one(sql('insert storage check', CHECK)`
    insert into storage_checks (id, options, status, stage, counts, created_at)
    values (${check.id}, ${JSON.stringify(check.options)}::jsonb, 'waiting', 'objects',
            ${JSON.stringify(check.counts)}::jsonb, ${check.created_at})
    on conflict ((true)) where status in ('waiting', 'running') do nothing
    returning ${columns(CHECK)}`)) as CheckRow | undefined;

/** Checks that ended, but for the latest ones. */
export const findOldChecks = (db: Queries, kept: number) =>
  db.all(sql('old storage checks', { id: 'uuid' })`
    select id from storage_checks
     where status not in ('waiting', 'running')
       and id not in (select id from storage_checks order by created_at desc limit ${kept})`);

/** Deletes a part of the findings of a check; returns their number. One statement for all takes too long. */
export const deleteFindings = async (db: Queries, id: string, limit: number): Promise<number> =>
  (
    await db.one(sql('delete storage findings', { deleted: 'int8' })`
      with deleted as (
        delete from storage_findings
         where check_id = ${id} and number in (
           select number from storage_findings where check_id = ${id} order by number limit ${limit})
        returning 1)
      select count(*) as deleted from deleted`)
  )?.deleted ?? 0;

export const deleteCheck = (db: Queries, id: string) =>
  db.one(sql('delete storage check')`delete from storage_checks where id = ${id}`);

export const findCheck = async (db: Queries, id: string): Promise<CheckRow | undefined> =>
  (await db.one(sql('find storage check', CHECK)`
    select ${columns(CHECK)} from storage_checks where id = ${id}`)) as CheckRow | undefined;

export const listCheckRows = async (db: Queries, limit: number): Promise<CheckRow[]> =>
  (await db.all(sql('list storage checks', CHECK)`
    select ${columns(CHECK)} from storage_checks order by created_at desc limit ${limit}`)) as CheckRow[];

/** Open checks that no process has touched for some time. */
export const findSilentChecks = (db: Queries, seconds: number) =>
  db.all(sql('silent storage checks', { id: 'uuid' })`
    select id from storage_checks
     where status in ('waiting', 'running') and updated_at < now() - make_interval(secs => ${seconds})`);

/** Undefined if the check has ended. Earlier runs of it cannot record anything any more. */
export const claimCheck = async (db: Queries, id: string): Promise<CheckRow | undefined> =>
  (await db.one(sql('claim storage check', CHECK)`
    update storage_checks set status = 'running', run = run + 1, updated_at = now(), error = null
     where id = ${id} and status in ('waiting', 'running')
    returning ${columns(CHECK)}`)) as CheckRow | undefined;

/** False if another worker has the check, or it was cancelled. */
export const touchCheck = async (db: Queries, { id, run }: Pick<CheckRow, 'id' | 'run'>): Promise<boolean> =>
  (await db.one(sql('touch storage check', { id: 'uuid' })`
    update storage_checks set updated_at = now()
     where id = ${id} and run = ${run} and status = 'running' returning id`)) !== undefined;

type Progress = Pick<CheckRow, 'id' | 'run' | 'stage' | 'position' | 'counts'>;

/** False if another worker has the check, or it was cancelled. */
export const recordProgress = async (db: Queries, progress: Progress): Promise<boolean> =>
  (await db.one(sql('storage check progress', { id: 'uuid' })`
    update storage_checks
       set stage = ${progress.stage}, position = ${progress.position}, updated_at = now(),
           counts = ${JSON.stringify(progress.counts)}::jsonb
     where id = ${progress.id} and run = ${progress.run} and status = 'running'
    returning id`)) !== undefined;

/** Why a run ended early; a later one continues it. */
export const recordRunError = (
  db: Queries,
  { id, run, error }: Pick<CheckRow, 'id' | 'run'> & { readonly error: string },
) =>
  db.one(sql('storage check error')`
    update storage_checks set error = ${error}
     where id = ${id} and run = ${run} and status = 'running'`);

export const endCheck = async (
  db: Queries,
  { id, status, error = null }: Pick<CheckRow, 'id' | 'status'> & { readonly error?: string | null },
): Promise<CheckRow | undefined> =>
  (await db.one(sql('end storage check', CHECK)`
    update storage_checks
       set status = ${status}, error = ${error}, updated_at = now(), finished_at = now()
     where id = ${id} and status in ('waiting', 'running')
    returning ${columns(CHECK)}`)) as CheckRow | undefined;

/** `first`: the number of the first one. */
export const insertFindings = (
  db: Queries,
  {
    id,
    first,
    findings,
  }: { readonly id: string; readonly first: number; readonly findings: readonly Finding[] },
) =>
  db.one(sql('insert storage findings')`
    insert into storage_findings (check_id, number, ${columns(FOUND)})
    select ${id}, ${first}::int8 + place - 1, ${columnsOf('found', FOUND)}
      from jsonb_array_elements(${JSON.stringify(findings)}::jsonb) with ordinality as element (value, place),
           lateral jsonb_to_record(value) as found (${definitions(FOUND)})`);

type FindingFilter = { readonly after: number; readonly limit: number; readonly kind: string | null };

export const listFindingRows = async (
  db: Queries,
  id: string,
  { after, limit, kind }: FindingFilter,
): Promise<FindingRow[]> =>
  (await db.all(sql('list storage findings', FINDING)`
    select ${columns(FINDING)} from storage_findings
     where check_id = ${id} and number > ${after} and (${kind}::text is null or kind = ${kind}::text)
     order by number
     limit ${limit}`)) as FindingRow[];

export const findUnrepaired = async (db: Queries, id: string, limit: number): Promise<FindingRow[]> =>
  (await db.all(sql('unrepaired storage findings', FINDING)`
    select ${columns(FINDING)} from storage_findings
     where check_id = ${id} and repair <> 'none' and repaired_at is null and repair_error is null
     order by number
     limit ${limit}`)) as FindingRow[];

export const recordRepair = (
  db: Queries,
  {
    check_id: id,
    number,
    error,
  }: Pick<FindingRow, 'check_id' | 'number'> & { readonly error: string | null },
) =>
  db.one(sql('record storage repair')`
    update storage_findings
       set repair_error = ${error}, repaired_at = case when ${error}::text is null then now() end
     where check_id = ${id} and number = ${number}`);

const ASSET = columns(assetRow);

/** A page of all assets by id. A filter could pass over millions of deleted ones in one statement. */
export const listAssetRows = async (db: Queries, after: string, limit: number): Promise<Asset[]> =>
  (await db.all(sql('all assets by id', assetRow)`
    select ${ASSET}
      from assets where id > ${after} order by id limit ${limit}`)) as readonly unknown[] as Asset[];
