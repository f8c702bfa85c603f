// Operations on everything that is kept of an owner, guarded by the operator key.
import { bytesOperation, jsonOperation } from '../../operation.ts';
import { EXAMPLE_OWNER_IMPORT, OwnerImport } from '../../schemas/admin/owner-imports.ts';
import {
  EraseOwnerQuery,
  ErasureResult,
  EXAMPLE_COMPLETED_ERASURE,
  EXAMPLE_ERASURE,
  ReceiptKeyList,
} from '../../schemas/admin/owners.ts';

const OPERATOR = { tag: 'Operators', auth: 'operator' } as const;
const NO_ERASURE = { code: 'NOT_FOUND', when: 'The owner has no erasure of this id.' } as const;

export const eraseOwner = jsonOperation({
  ...OPERATOR,
  id: 'eraseOwner',
  method: 'DELETE',
  path: '/api/v1/admin/owners/{owner_user_id}',
  summary: 'Erase an owner',
  description:
    'Removes everything that is kept of one owner: assets, bytes, copies at providers, events, webhooks ' +
    'and rows about it. The work goes on after the response. A repeated call returns the erasure that ' +
    'runs; until it is completed, nothing can be created for the owner (409 `owner_is_being_erased`).',
  query: EraseOwnerQuery,
  status: 202,
  message: 'Erasure started',
  data: ErasureResult,
  example: { erasure: EXAMPLE_ERASURE },
});

export const getErasure = jsonOperation({
  ...OPERATOR,
  id: 'getErasure',
  method: 'GET',
  path: '/api/v1/admin/owners/{owner_user_id}/erasures/{id}',
  summary: 'Get an erasure',
  description: 'Returns the progress of an erasure, and its signed receipt when it is completed.',
  message: 'Erasure',
  data: ErasureResult,
  example: { erasure: EXAMPLE_COMPLETED_ERASURE },
  errors: [NO_ERASURE],
});

const LINE =
  '{"asset_id":"019aab7c-6b1e-7d02-8c4f-2a1b3c4d5e6f","kind":"originals_files","count":1,' +
  '"confirmed_at":"2026-11-22T10:16:12.000Z"}\n';

export const getErasureReceipt = bytesOperation({
  ...OPERATOR,
  id: 'getErasureReceipt',
  method: 'GET',
  path: '/api/v1/admin/owners/{owner_user_id}/erasures/{id}/receipt',
  summary: 'Get the receipt of an erasure',
  description:
    'Streams what was removed, one JSON object per line: `asset_id` (null for rows that belong to no ' +
    'asset), `kind`, `count` and `confirmed_at`. The last line has the signed `statement`. ' +
    '`mediary owners verify` checks it.',
  response: { mediaTypes: ['application/x-ndjson'], description: 'The receipt.', example: LINE },
  errors: [
    NO_ERASURE,
    { code: 'CONFLICT', reason: 'erasure_not_completed', when: 'The erasure still runs.' },
  ],
});

export const listReceiptKeys = jsonOperation({
  ...OPERATOR,
  id: 'listReceiptKeys',
  method: 'GET',
  path: '/api/v1/admin/receipt-keys',
  summary: 'List the public keys of receipts',
  description:
    'The keys that are derived from `URL_SIGNING_SECRET` and its predecessor, the current one first. Keep ' +
    'them with your receipts: a rotated secret has another key.',
  message: 'Receipt keys',
  data: ReceiptKeyList,
  example: { items: ['MCowBQYDK2VwAyEAEXAMPLE'], next_cursor: null },
});

export const exportOwner = bytesOperation({
  ...OPERATOR,
  id: 'exportOwner',
  method: 'GET',
  path: '/api/v1/admin/owners/{owner_user_id}/export',
  summary: 'Export an owner',
  description:
    'Streams a tar archive of the assets of one owner, those in the trash included. It starts with ' +
    '`export.json`. Each asset has a folder `assets/<id>` with `original`, `captions/<language>.vtt`, ' +
    '`events-<n>.ndjson`, `asset.json` and `SHA256SUMS`. The last file is `manifest.json`; an archive ' +
    'without it is not complete. Renditions are not exported, nor originals that only a hosted provider ' +
    'has.',
  requestExample: { output: 'user_42.tar' },
  response: { mediaTypes: ['application/x-tar'], description: 'The archive.' },
  responseHeaders: { 'Content-Disposition': 'The name of the file.' },
  errors: [
    { code: 'UNAVAILABLE', reason: 'busy', when: 'The process already sends `OWNER_EXPORTS_MAX` exports.' },
  ],
});

export const importOwner = bytesOperation({
  ...OPERATOR,
  id: 'importOwner',
  method: 'POST',
  path: '/api/v1/admin/owners/{owner_user_id}/import',
  summary: 'Import an owner',
  description:
    'Restores an archive of `GET …/export`, here or on another service. Every asset gets its id, its ' +
    'original, captions, details and timeline back, and is processed again. The files pass the checks of ' +
    'an upload. Each asset is stored whole or not at all, while the archive arrives; the report lists ' +
    'what was imported and what was not. Send the same archive again to continue: assets that are there ' +
    'do not change. Events of the timeline are not sent to webhook endpoints again.',
  requestExample: { headers: { 'Content-Type': 'application/x-tar' }, file: 'archive.tar' },
  requestHeaders: ['Content-Type'],
  body: {
    mediaTypes: ['application/x-tar'],
    description: 'The archive, as the export wrote it.',
    example: 'The bytes of the archive',
  },
  message: 'Import',
  data: OwnerImport,
  example: EXAMPLE_OWNER_IMPORT,
  errors: [
    {
      code: 'BAD_REQUEST',
      reason: 'archive_invalid',
      when: 'The body is not an archive of an export. Nothing was imported.',
    },
    {
      code: 'BAD_REQUEST',
      reason: 'archive_other_owner',
      when: 'The archive is of another owner. Nothing was imported.',
    },
    {
      code: 'BAD_REQUEST',
      reason: 'request_too_slow',
      when: 'The body arrived more slowly than 4096 bytes in 10 seconds.',
    },
    { code: 'CONFLICT', reason: 'owner_is_being_erased', when: 'An erasure of the owner runs.' },
    {
      code: 'UNAVAILABLE',
      reason: 'busy',
      when: 'The process already runs `OWNER_IMPORTS_MAX` imports, or one of this owner.',
    },
  ],
});

export const OWNER_OPERATIONS = [
  exportOwner,
  importOwner,
  eraseOwner,
  getErasure,
  getErasureReceipt,
  listReceiptKeys,
];
