// Which of an owner's assets are meant: the list's query in the terms of the table (contract B3).
import { badRequest } from '../platform/errors.ts';
import { firstIdOf } from '../platform/uuid.ts';
import type { AssetKind, ProviderName } from './asset.ts';
import type { StreamStatus } from './stream-status.ts';

export type AssetFilter = {
  readonly owner: string;
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
  readonly limit: number; readonly sort: 'created_at' | '-created_at'; readonly cursor?: string; readonly count?: boolean; readonly deleted?: boolean;
  readonly kind?: AssetKind; readonly stream_status?: StreamStatus; readonly provider?: ProviderName; readonly tag?: string; readonly q?: string;
  readonly created_after?: string; readonly created_before?: string;
};

export const filterOf = (owner: string, query: ListQuery): AssetFilter => ({
  owner, isTrash: query.deleted === true, kind: query.kind, streamStatus: query.stream_status, provider: query.provider,
  tag: plain('tag', query.tag), text: patternOf(plain('q', query.q)),
  fromId: idAt('created_after', query.created_after, (ms) => Math.floor(ms) + 1), belowId: idAt('created_before', query.created_before, Math.ceil),
});

const patternOf = (words: string | undefined) => (words === undefined ? undefined : `%${words.replace(/[\\%_]/g, '\\$&')}%`);

function plain(field: string, text: string | undefined): string | undefined {
  if (text !== undefined && (text.includes('\0') || !text.isWellFormed())) throw badRequest(`${field} must be plain text`, { field });
  return text;
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

function idAt(field: string, moment: string | undefined, round: (ms: number) => number): string | undefined {
  if (moment === undefined) return undefined;
  const ms = MOMENT.test(moment) ? Date.parse(moment) : Number.NaN;
  if (Number.isNaN(ms)) throw badRequest(`${field} must be an ISO 8601 time with its zone, or a date`, { field });
  return firstIdOf(round(ms));
}
