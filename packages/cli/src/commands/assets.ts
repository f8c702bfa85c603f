// `ls`, `get`, `rm`, `restore`, `hold`, `release`, `retry` and `watch`: assets of the owner.
import type { Asset, AssetPage, ListAssetsQuery, TimelineEntry } from '@mediary/client';
import { type Command, Option } from 'commander';
import { parseCount, parseDuration } from '../arguments.ts';
import { describeStatus, formatAsset, formatAssetLine, formatAssetTable } from '../asset-text.ts';
import { openClient } from '../client.ts';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import { assertNotFailed, followAsset, showEncoding } from '../events/follow.ts';
import { createProgress } from '../progress.ts';
import { formatTable, formatTime, toPlain } from '../text.ts';

type ListFlags = {
  readonly kind?: 'image' | 'video';
  readonly status?: Asset['stream_status'];
  readonly provider?: string;
  readonly externalId?: string;
  readonly tag?: string;
  readonly search?: string;
  readonly after?: string;
  readonly before?: string;
  readonly expiresBefore?: string;
  readonly trash?: boolean;
  readonly sort: 'newest' | 'oldest';
  readonly limit?: number;
  readonly cursor?: string;
  readonly count?: boolean;
  readonly all?: boolean;
  readonly allOwners?: boolean;
};

export function addAssetCommands(program: Command, run: Runner): void {
  addListCommand(program).action(run(listAssets));
  program
    .command('get')
    .description('Show an asset')
    .argument('<id>', 'id of the asset')
    .option('--timeline', 'show what happened to it')
    .action(run(getAsset));
  program
    .command('rm')
    .description('Delete assets: they stop playing at once; their bytes are removed days later')
    .argument('<id...>', 'ids of assets')
    .option('--trash', 'move them to the trash, where they can be restored')
    .option('--erase', 'remove their bytes at once, also of deleted assets (needs the service key)')
    .action(run(removeAssets));
  program
    .command('restore')
    .description('Restore assets from the trash')
    .argument('<id...>', 'ids of assets')
    .action(run(restoreAssets));
  program
    .command('hold')
    .description('Set a legal hold: nothing deletes the assets or replaces their files (service key)')
    .argument('<id...>', 'ids of assets')
    .action(run(holdAssets));
  program
    .command('release')
    .description('Release the legal hold of assets (service key)')
    .argument('<id...>', 'ids of assets')
    .action(run(releaseAssets));
  program
    .command('retry')
    .description('Start another attempt of a failed asset')
    .argument('<id>', 'id of the asset')
    .action(run(retryAsset));
  program
    .command('watch')
    .description('Follow an asset until it is ready or failed')
    .argument('<id>', 'id of the asset')
    .option('--timeout <duration>', 'the longest wait, such as 10m', parseDuration)
    .action(run(watchAsset));
}

const addListCommand = (program: Command): Command =>
  program
    .command('ls')
    .description('List assets')
    .addOption(new Option('--kind <kind>', 'only this kind').choices(['image', 'video']))
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
    .option('--tag <tag>', 'only assets with this tag')
    .option('--search <text>', 'part of the title or file name')
    .option('--after <time>', 'created after this time, ISO 8601')
    .option('--before <time>', 'created before this time, ISO 8601')
    .option('--expires-before <time>', 'expires before this time, ISO 8601')
    .option('--trash', 'assets in the trash')
    .addOption(new Option('--sort <order>', 'order').choices(['newest', 'oldest']).default('newest'))
    .option('--limit <count>', 'assets of one page, at most 200', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .option('--count', 'count the matching assets')
    .option('--all', 'all pages; JSON lines with --json')
    .option('--all-owners', 'assets of all owners (operator key)');

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
  q: flags.search,
  created_after: flags.after,
  created_before: flags.before,
  expires_before: flags.expiresBefore,
  deleted: flags.trash,
  sort: flags.sort === 'oldest' ? 'created_at' : '-created_at',
  limit: flags.limit,
  count: flags.count,
});

const getAsset: Handler<{ readonly timeline?: boolean }> = async (context, [id = ''], flags) => {
  const { mediary, options } = await openClient(context);
  if (!flags.timeline) {
    const asset = await mediary.media.get(id, options);
    return context.output.result(asset, () => formatAsset(asset));
  }
  const items: TimelineEntry[] = [];
  for await (const entry of mediary.media.timeline(id, {}, options)) items.push(entry);
  context.output.result({ items }, () =>
    formatTable(
      ['TIME', 'EVENT', 'SOURCE', 'DESCRIPTION'],
      items.map(({ at, type, source, sentence }) => [formatTime(at), type, source, sentence]),
    ),
  );
};

type RemoveFlags = { readonly trash?: boolean; readonly erase?: boolean };

const removeAssets: Handler<RemoveFlags> = async (context, ids, { trash, erase }) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const deleted = await mediary.media.delete(id, { ...options, trash, erase });
    const outcome = erase ? 'erased' : trash ? 'moved to the trash' : 'deleted';
    context.output.item(deleted, () => `${id}  ${outcome}`);
  }
};

const restoreAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.restore(id, options);
    context.output.item(asset, () => formatAssetLine(asset));
  }
};

const holdAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.setLegalHold(id, options);
    context.output.item(asset, () => `${id}  held`);
  }
};

const releaseAssets: Handler = async (context, ids) => {
  const { mediary, options } = await openClient(context);
  for (const id of ids) {
    const asset = await mediary.media.releaseLegalHold(id, options);
    context.output.item(asset, () => `${id}  released`);
  }
};

const retryAsset: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  const { upload } = await mediary.media.retry(id, options);
  const asset = await mediary.media.get(id, options);
  context.output.result(asset, () => formatAssetLine(asset));
  if (upload !== null)
    throw usageError(
      'The bytes must be sent again.',
      'Upload the file as a new asset: mediary upload <file>',
    );
};

const watchAsset: Handler<{ readonly timeout?: number }> = async (context, [id = ''], flags) => {
  const { output } = context;
  const client = await openClient(context);
  const progress = output.isInteractive ? createProgress(output, id) : undefined;
  const show = (asset: Asset): void => {
    if (progress) showEncoding(progress, asset);
    if (output.isJson || !progress)
      output.item(asset, () => `${formatTime(asset.updated_at)}  ${describeStatus(asset)}`);
  };
  try {
    const asset = await followAsset(client, { id, timeoutS: flags.timeout, onUpdate: show });
    progress?.stop();
    if (progress && !output.isJson) output.item(asset, () => formatAssetLine(asset));
    assertNotFailed(asset);
  } finally {
    progress?.stop();
  }
};
