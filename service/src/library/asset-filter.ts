// Which of an owner's assets are meant: the list's query in the terms of the table (contract B3).
import type { AssetKind, StreamStatus } from '@mediary/contract/enums';
import type { ProviderName } from '../assets/asset.ts';
import { parseIdAt, parsePlainText } from '../assets/query-values.ts';
import { badRequest } from '../platform/errors.ts';

export type AssetFilter = {
  /** Undefined: of all owners, for operators. */
  readonly owner: string | undefined;
  readonly isTrash: boolean;
  readonly kind?: AssetKind | undefined;
  readonly streamStatus?: StreamStatus | undefined;
  readonly provider?: ProviderName | undefined;
  readonly tag?: string | undefined;
  /** A LIKE pattern. */
  readonly text?: string | undefined;
  /** Ids are ordered by time: a time is a lowest id. */
  readonly fromId?: string | undefined;
  readonly belowId?: string | undefined;
};

/** The query as its schema shaped it. */
export type ListQuery = {
  readonly limit: number;
  readonly sort: 'created_at' | '-created_at';
  readonly cursor?: string;
  readonly count?: boolean;
  readonly deleted?: boolean;
  readonly kind?: AssetKind;
  readonly stream_status?: StreamStatus;
  /** Alias of `stream_status`. */
  readonly status?: StreamStatus;
  readonly provider?: ProviderName;
  readonly tag?: string;
  readonly q?: string;
  readonly created_after?: string;
  readonly created_before?: string;
};

export const toAssetFilter = (owner: string | undefined, query: ListQuery): AssetFilter => ({
  owner,
  isTrash: query.deleted === true,
  kind: query.kind,
  streamStatus: statusIn(query),
  provider: query.provider,
  tag: parsePlainText('tag', query.tag),
  text: patternOf(parsePlainText('q', query.q)),
  fromId: parseIdAt('created_after', query.created_after, (ms) => Math.floor(ms) + 1),
  belowId: parseIdAt('created_before', query.created_before, Math.ceil),
});

function statusIn({ stream_status, status }: ListQuery): StreamStatus | undefined {
  if (stream_status !== undefined && status !== undefined && stream_status !== status)
    throw badRequest('status is an alias of stream_status: send one of them, or both with the same value.', {
      field: 'status',
      allowed: [stream_status],
    });
  return stream_status ?? status;
}

const patternOf = (words: string | undefined) =>
  words === undefined ? undefined : `%${words.replace(/[\\%_]/g, '\\$&')}%`;
