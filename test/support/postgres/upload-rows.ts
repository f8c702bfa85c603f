// The rows of the table `uploads` that an asset has.
import { sql } from '../../../service/src/platform/postgres/sql.ts';
import type { TestService } from '../service.ts';

export const uploadsOf = ({ adapters }: Pick<TestService, 'adapters'>, assetId: string) =>
  adapters.db.all(sql('test: uploads of an asset', {
    id: 'uuid',
    protocol: 'text',
    bytes_received: 'int8',
    is_finished: 'bool',
  })`
    select id, protocol, bytes_received, finished_at is not null as is_finished
      from uploads where asset_id = ${assetId} order by created_at`);

/** The uploads of an asset that requests hold now. */
export const heldUploadsOf = ({ adapters }: Pick<TestService, 'adapters'>, assetId: string) =>
  adapters.db.all(sql('test: held uploads of an asset', { id: 'uuid' })`
    select id from uploads where asset_id = ${assetId} and lease_holder is not null`);
