// Operations of storage checks, guarded by the operator key.
import { jsonOperation } from '../../operation.ts';
import {
  EXAMPLE_CHECK,
  EXAMPLE_FINDING,
  ListFindingsQuery,
  StartCheckRequest,
  StorageCheck,
  StorageCheckList,
  StorageFindingPage,
} from '../../schemas/admin/storage-checks.ts';

const shared = { tag: 'Operators', auth: 'operator' } as const;
const NO_CHECK = { code: 'NOT_FOUND', when: 'No such check.' } as const;

export const startCheck = jsonOperation({
  ...shared,
  id: 'startStorageCheck',
  method: 'POST',
  path: '/api/v1/admin/checks',
  summary: 'Start a storage check',
  description:
    'Starts a job that compares the database with the object store and with the hosted providers, in both ' +
    'directions. It continues after a crash of its worker. With `repair` it also settles what it finds; it ' +
    'never deletes the only copy of a file, unless `delete_unknown` says so.',
  body: StartCheckRequest,
  message: 'Check started',
  data: StorageCheck,
  example: { ...EXAMPLE_CHECK, status: 'waiting', stage: 'objects', object_count: 0, asset_count: 0 },
  errors: [{ code: 'CONFLICT', reason: 'check_running', when: 'Another check has not ended.' }],
});

export const listChecks = jsonOperation({
  ...shared,
  id: 'listStorageChecks',
  method: 'GET',
  path: '/api/v1/admin/checks',
  summary: 'List storage checks',
  description: 'Lists the latest 20 checks, newest first. Earlier ones are deleted with their findings.',
  message: 'Checks',
  data: StorageCheckList,
  example: { items: [EXAMPLE_CHECK], next_cursor: null },
});

export const getCheck = jsonOperation({
  ...shared,
  id: 'getStorageCheck',
  method: 'GET',
  path: '/api/v1/admin/checks/{id}',
  summary: 'Get a storage check',
  description: 'Returns the progress of a check, and the number of its findings.',
  message: 'Check',
  data: StorageCheck,
  example: EXAMPLE_CHECK,
  errors: [NO_CHECK],
});

export const listFindings = jsonOperation({
  ...shared,
  id: 'listStorageFindings',
  method: 'GET',
  path: '/api/v1/admin/checks/{id}/findings',
  summary: 'List the findings of a storage check',
  description: 'Lists what a check has found so far, in the order in which it was found.',
  query: ListFindingsQuery,
  message: 'Findings',
  data: StorageFindingPage,
  example: { items: [EXAMPLE_FINDING], next_cursor: null },
  errors: [NO_CHECK],
});

export const cancelCheck = jsonOperation({
  ...shared,
  id: 'cancelStorageCheck',
  method: 'POST',
  path: '/api/v1/admin/checks/{id}/cancel',
  summary: 'Cancel a storage check',
  description: 'Ends a check. What it has found and repaired so far stays.',
  message: 'Check cancelled',
  data: StorageCheck,
  example: { ...EXAMPLE_CHECK, status: 'cancelled', finished_at: '2026-11-22T10:21:12.000Z' },
  errors: [NO_CHECK],
});
