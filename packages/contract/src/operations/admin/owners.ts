// Operations on everything that is kept of an owner, guarded by the operator key.
import { bytesOperation, jsonOperation } from '../../operation.ts';
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
    'Streams a tar archive of the assets of one owner, those in the trash included: `export.json`; for ' +
    'each asset a folder `assets/<id>` with `original`, `captions/<language>.vtt`, `events-<n>.ndjson`, ' +
    '`asset.json` and `SHA256SUMS`; last `manifest.json`. An archive without it is not complete. ' +
    'Renditions are not exported, nor originals that only a hosted provider has.',
  response: { mediaTypes: ['application/x-tar'], description: 'The archive.' },
  responseHeaders: { 'Content-Disposition': 'The name of the file.' },
  errors: [
    { code: 'UNAVAILABLE', reason: 'busy', when: 'The process already sends `OWNER_EXPORTS_MAX` exports.' },
  ],
});
