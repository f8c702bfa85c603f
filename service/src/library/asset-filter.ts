// Converts the query of a list to a filter on the table (contract B3).
import type { AssetKind, StreamStatus } from '@mediary/contract/enums';
import type { ListAssetsQuery } from '@mediary/contract/schemas/library';
import type { ProviderName } from '../assets/asset.ts';
import { parseIdAt, parseTime } from '../assets/text-limits.ts';
import { parsePlainText } from '../platform/values/plain-text.ts';
import { badRequest } from '../platform/http/errors.ts';

export type ListQuery = Omit<ListAssetsQuery, 'owner_user_id'>;

/** Undefined members are ignored. */
export type AssetFilter = {
  /** Undefined: assets of all owners, for operators. */
  readonly owner: string | undefined;
  readonly isTrash: boolean;
  readonly kind?: AssetKind | undefined;
  readonly streamStatus?: StreamStatus | undefined;
  readonly provider?: ProviderName | undefined;
  readonly externalId?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** True: one of the tags suffices. */
  readonly isAnyTag?: boolean | undefined;
  /** For each member of the query, JSON objects: the asset's metadata contains one of them. */
  readonly metadata?: readonly (readonly string[])[] | undefined;
  /** A LIKE pattern. */
  readonly text?: string | undefined;
  /** Ids contain their time: `fromId` is inclusive, `belowId` is exclusive. */
  readonly fromId?: string | undefined;
  readonly belowId?: string | undefined;
  readonly updatedAfter?: Date | undefined;
  readonly expiresBefore?: Date | undefined;
};

export const toAssetFilter = (owner: string | undefined, query: ListQuery): AssetFilter => ({
  owner,
  isTrash: query.deleted === true,
  kind: query.kind,
  streamStatus: parseStatus(query),
  provider: query.provider,
  externalId: parsePlainText('external_id', query.external_id),
  tags: query.tag?.map((tag) => parsePlainText('tag', tag) ?? tag),
  isAnyTag: query.tag && query.tag_match === 'any',
  metadata: query.metadata && Object.entries(query.metadata).map(toContained),
  text: toLikePattern(parsePlainText('q', query.q)),
  fromId: parseIdAt('created_after', query.created_after, (ms) => Math.floor(ms) + 1),
  belowId: parseIdAt('created_before', query.created_before, Math.ceil),
  updatedAfter: parseTime('updated_after', query.updated_after),
  expiresBefore: parseTime('expires_before', query.expires_before),
});

function parseStatus({ stream_status, status }: ListQuery): StreamStatus | undefined {
  if (stream_status !== undefined && status !== undefined && stream_status !== status)
    throw badRequest('status is an alias of stream_status: send one of them, or both with the same value.', {
      field: 'status',
      allowed: [stream_status],
    });
  return stream_status ?? status;
}

const MAX_NAME_LENGTH = 255;
const JSON_NUMBER_OR_BOOLEAN = /^(?:-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?|true|false)$/;

/** Text of a query may mean text, a number or a boolean: `1042` finds 1042 and "1042". */
function toContained([name, text]: readonly [string, string]): readonly string[] {
  const field = `metadata[${name}]`;
  if (name.length === 0 || name.length > MAX_NAME_LENGTH)
    throw badRequest(`The name of a member of metadata has 1–${MAX_NAME_LENGTH} characters.`, {
      field,
      limit: MAX_NAME_LENGTH,
    });
  parsePlainText(field, name);
  parsePlainText(field, text);
  const containing = (json: string) => `{${JSON.stringify(name)}:${json}}`;
  const asText = containing(JSON.stringify(text));
  return JSON_NUMBER_OR_BOOLEAN.test(text) ? [asText, containing(text)] : [asText];
}

const toLikePattern = (text: string | undefined) =>
  text === undefined ? undefined : `%${text.replace(/[\\%_]/g, '\\$&')}%`;
