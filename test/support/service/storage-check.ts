// Runs a storage check as an operator does, and returns what it found.
import type {
  StartCheckRequest,
  StorageCheck,
  StorageFinding,
} from '@mediary/contract/schemas/admin/storage-checks';
import { expectSuccess } from '../http/envelope.ts';
import { asOperator, call, eventually } from '../service.ts';

type Service = { readonly url: string };
type Result = { readonly check: StorageCheck; readonly findings: readonly StorageFinding[] };

/** Waits for the end of the check. Needs a worker. */
export async function runStorageCheck(service: Service, json: StartCheckRequest = {}): Promise<Result> {
  const started = await call<StorageCheck>(service, 'POST /admin/checks', { headers: asOperator, json });
  expectSuccess(started);
  const { id } = started.body.data;
  return eventually(
    () => readStorageCheck(service, id),
    ({ check }) => check.finished_at !== null,
  );
}

export async function readStorageCheck(service: Service, id: string): Promise<Result> {
  const { body } = await call<StorageCheck>(service, `GET /admin/checks/${id}`, { headers: asOperator });
  return { check: body.data, findings: await listFindings(service, id) };
}

type FindingPage = { readonly items: StorageFinding[]; readonly next_cursor: string | null };

async function listFindings(service: Service, id: string): Promise<StorageFinding[]> {
  const found: StorageFinding[] = [];
  for (let cursor = ''; ; ) {
    const path = `GET /admin/checks/${id}/findings?limit=200${cursor}`;
    const page = await call<FindingPage>(service, path, { headers: asOperator });
    expectSuccess(page);
    const { items, next_cursor: next } = page.body.data;
    found.push(...items);
    if (next === null) return found;
    cursor = `&cursor=${next}`;
  }
}

/** Also removes what may be the only copy. */
export const REMOVE_ORPHANS = { repair: true, delete_unknown: true, orphan_age_s: 0 } as const;

export const keysOf = ({ findings }: Result): (string | null)[] => findings.map(({ key }) => key);
