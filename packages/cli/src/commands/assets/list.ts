// `ls`: lists of assets, of one owner or of all.
import type { Asset, AssetKind, AssetPage, ListAssetsQuery } from '@mediary/client';
import { type Command, Option } from 'commander';
import { ASSET_KINDS, collect, collectMember, parseCount } from '../../arguments.ts';
import { formatAssetTable } from '../../asset-text.ts';
import { openClient } from '../../client.ts';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../../context.ts';
import { toPlain } from '../../text.ts';

const ORDERS = {
  newest: '-created_at',
  oldest: 'created_at',
  changed: '-updated_at',
  title: 'title',
  largest: '-size_bytes',
  smallest: 'size_bytes',
  longest: '-duration_ms',
  shortest: 'duration_ms',
} as const;

type ListFlags = {
  readonly kind?: AssetKind;
  readonly status?: Asset['stream_status'];
  readonly provider?: string;
  readonly externalId?: string;
  readonly tag?: string[];
  readonly anyTag?: boolean;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly search?: string;
  readonly after?: string;
  readonly before?: string;
  readonly updatedAfter?: string;
  readonly expiresBefore?: string;
  readonly trash?: boolean;
  readonly sort: keyof typeof ORDERS;
  readonly limit?: number;
  readonly cursor?: string;
  readonly count?: boolean;
  readonly all?: boolean;
  readonly allOwners?: boolean;
};

export const addListCommand = (program: Command, run: Runner): Command =>
  program
    .command('ls')
    .description('List assets')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(ASSET_KINDS))
    .addOption(
      new Option('--status <status>', 'only this status').choices([
        'pending_upload',
        'processing',
        'ready',
        'failed',
      ]),
    )
    .option('--provider <name>', 'only videos of this provider')
    .option('--external-id <id>', 'only the asset of an owner with this id of yours')
    .option('--tag <tag>', 'only assets with this tag; can be repeated', collect)
    .option('--any-tag', 'one of the tags suffices')
    .option('--metadata <name=value>', 'only this member of metadata; can be repeated', collectMember)
    .option('--search <text>', 'part of the title or file name')
    .option('--after <time>', 'created after this time, ISO 8601')
    .option('--before <time>', 'created before this time, ISO 8601')
    .option('--updated-after <time>', 'changed after this time, ISO 8601')
    .option('--expires-before <time>', 'expires before this time, ISO 8601')
    .option('--trash', 'assets in the trash')
    .addOption(
      new Option('--sort <order>', 'order; `changed` is the last change first')
        .choices(Object.keys(ORDERS))
        .default('newest'),
    )
    .option('--limit <count>', 'assets of one page, at most 200', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .option('--count', 'count the matching assets')
    .option('--all', 'all pages; JSON lines with --json')
    .option('--all-owners', 'assets of all owners (operator key)')
    .action(run(listAssets));

type ReadPage = (cursor: string | undefined) => Promise<AssetPage>;

const listAssets: Handler<ListFlags> = async (context, _args, flags) => {
  const { output } = context;
  const readPage = await openList(context, flags);
  let cursor = flags.cursor;
  do {
    const page = await readPage(cursor);
    if (!flags.all && output.isJson) output.result(page, () => '');
    else if (output.isJson) for (const asset of page.items) output.item(asset, () => '');
    else if (page.items.length > 0) output.item(page, () => formatAssetTable(page.items));
    else if (cursor === flags.cursor) output.note(await describeEmptyList(context, flags));
    if (page.total !== undefined) output.note(`${page.total} assets`);
    cursor = page.next_cursor ?? undefined;
  } while (flags.all && cursor !== undefined);
  if (cursor !== undefined) output.note(`More: --cursor ${cursor}, or --all`);
};

/** Whose list it is, because the owner may come from a default. */
async function describeEmptyList(context: CommandContext, flags: ListFlags): Promise<string> {
  const { allOwners, limit: _limit, sort: _sort, all: _all, count: _count, ...filters } = flags;
  const { credential, owner } = await context.loadSettings();
  const end = Object.keys(filters).length > 0 ? ' match.' : '.';
  if (allOwners) return `No assets${end}`;
  if (credential?.kind === 'token')
    return `No assets of the user ${findUserId(credential.token) ?? 'of this token'}${end}`;
  const others = 'Others: --owner <id>, or --all-owners (operator key).';
  return `No assets of owner ${toPlain(owner ?? '')}${end} ${others}`;
}

/** Not verified: the service does that. */
function findUserId(token: string): string | undefined {
  try {
    const { user_id: id } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return toPlain(String(id));
  } catch {
    return undefined;
  }
}

async function openList(context: CommandContext, flags: ListFlags): Promise<ReadPage> {
  const filters = toQuery(flags);
  if (flags.allOwners) {
    const api = await openOperatorApi(context);
    const owner_user_id = context.flags.owner;
    return (cursor) => api.get('/media', { ...filters, owner_user_id, cursor });
  }
  const { mediary, options } = await openClient(context);
  return (cursor) => mediary.media.list(filters, options).page(cursor);
}

const toQuery = (flags: ListFlags): Omit<ListAssetsQuery, 'owner_user_id'> => ({
  kind: flags.kind,
  stream_status: flags.status,
  provider: flags.provider,
  external_id: flags.externalId,
  tag: flags.tag,
  tag_match: flags.anyTag ? 'any' : undefined,
  metadata: flags.metadata,
  q: flags.search,
  created_after: flags.after,
  created_before: flags.before,
  updated_after: flags.updatedAfter,
  expires_before: flags.expiresBefore,
  deleted: flags.trash,
  sort: ORDERS[flags.sort],
  limit: flags.limit,
  count: flags.count,
});
