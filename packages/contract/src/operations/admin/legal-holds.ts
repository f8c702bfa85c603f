// Legal holds: while one is set, nothing deletes the asset or replaces its bytes.
import { jsonOperation } from '../../operation.ts';
import { Asset, EXAMPLE_ASSET } from '../../schemas/assets/asset.ts';
import { OwnerOnly } from '../../schemas/common.ts';
import { ASSET_ERRORS } from '../media.ts';

const HELD_ASSET = { ...EXAMPLE_ASSET, legal_hold: true };
const RELEASED_ASSET = { ...EXAMPLE_ASSET, legal_hold: false };

const SETS =
  'Nothing deletes a held asset. `DELETE` (also with `trash=true` or `erase=true`), `restore`, and a ' +
  'retry or captions that would replace stored bytes return 409 `legal_hold`. `expires_at` and ' +
  '`TRASH_DAYS` take effect once the hold is released. Playback still ends at `expires_at`. Also for ' +
  'assets in the trash. A repeated call changes nothing.';
const RELEASES =
  'What the hold delayed takes effect: an asset whose `expires_at` or `TRASH_DAYS` have passed is deleted ' +
  'by the next job. A repeated call changes nothing.';
const NOT_FOUND = [{ code: 'NOT_FOUND', when: 'No such asset, or it is deleted for good.' }] as const;

export const setLegalHold = jsonOperation({
  id: 'setLegalHold',
  method: 'PUT',
  path: '/api/v1/media/{id}/legal-hold',
  tag: 'Assets',
  auth: 'service',
  scope: 'legal_hold',
  summary: 'Set a legal hold',
  description: SETS,
  body: OwnerOnly,
  message: 'Legal hold set',
  data: Asset,
  example: HELD_ASSET,
  errors: ASSET_ERRORS,
});

export const releaseLegalHold = jsonOperation({
  id: 'releaseLegalHold',
  method: 'DELETE',
  path: '/api/v1/media/{id}/legal-hold',
  tag: 'Assets',
  auth: 'service',
  scope: 'legal_hold',
  summary: 'Release a legal hold',
  description: `${RELEASES} Send \`owner_user_id\` in the body or in the query.`,
  query: OwnerOnly,
  body: OwnerOnly,
  message: 'Legal hold released',
  data: Asset,
  example: RELEASED_ASSET,
  errors: ASSET_ERRORS,
});

export const setLegalHoldAsOperator = jsonOperation({
  id: 'setLegalHoldAsOperator',
  method: 'PUT',
  path: '/api/v1/admin/media/{id}/legal-hold',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Set a legal hold',
  description: SETS,
  message: 'Legal hold set',
  data: Asset,
  example: HELD_ASSET,
  errors: NOT_FOUND,
});

export const releaseLegalHoldAsOperator = jsonOperation({
  id: 'releaseLegalHoldAsOperator',
  method: 'DELETE',
  path: '/api/v1/admin/media/{id}/legal-hold',
  tag: 'Operators',
  auth: 'operator',
  summary: 'Release a legal hold',
  description: RELEASES,
  message: 'Legal hold released',
  data: Asset,
  example: RELEASED_ASSET,
  errors: NOT_FOUND,
});
