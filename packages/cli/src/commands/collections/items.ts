// `collections show`, `add`, `move` and `remove`: the assets of a collection and their order.
import type { CollectionItem, CollectionItemsResult, CollectionPlace } from '@mediary/client';
import type { Command } from 'commander';
import { openClient } from '../../client.ts';
import type { Handler, Runner } from '../../context.ts';
import { usageError } from '../../exit-codes.ts';
import { toPlain } from '../../text.ts';

export function addItemCommands(collections: Command, run: Runner): void {
  collections
    .command('show')
    .description('List the assets of a collection in their order')
    .argument('<id>', 'id of the collection')
    .action(run(showItems));
  addPlace(collections.command('add'))
    .description('Add assets; those that are in the collection keep their place')
    .argument('<id>', 'id of the collection')
    .argument('<asset...>', 'ids of assets, at most 100')
    .action(run(addAssets));
  addPlace(collections.command('move'))
    .description('Move an asset within a collection')
    .argument('<id>', 'id of the collection')
    .argument('<asset>', 'id of the asset')
    .action(run(moveAsset));
  collections
    .command('remove')
    .description('Remove assets from a collection; the assets stay')
    .argument('<id>', 'id of the collection')
    .argument('<asset...>', 'ids of assets')
    .action(run(removeAssets));
}

type PlaceFlags = { readonly start?: boolean; readonly before?: string; readonly after?: string };

const addPlace = (command: Command): Command =>
  command
    .option('--start', 'to the start; default: to the end')
    .option('--before <asset>', 'right before this asset')
    .option('--after <asset>', 'right after this asset');

function toPlace({ start, before, after }: PlaceFlags): CollectionPlace {
  if ([start, before, after].filter((given) => given !== undefined).length > 1)
    throw usageError('There is more than one place.', 'Send one of --start, --before and --after.');
  return start ? { position: 'start' } : { before, after };
}

const showItems: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  for await (const item of mediary.collections.items(id, {}, options))
    context.output.item(item, () => formatItem(item));
};

const formatItem = ({ asset }: CollectionItem): string =>
  `${asset.id}  ${asset.stream_status}  ${toPlain(asset.title ?? asset.filename)}`;

const addAssets: Handler<PlaceFlags> = async (context, [id = '', ...assetIds], flags) => {
  const { mediary, options } = await openClient(context);
  const added = await mediary.collections.add(id, assetIds, toPlace(flags), options);
  context.output.result(added, () => formatChange(added, 'added'));
};

const moveAsset: Handler<PlaceFlags> = async (context, [id = '', assetId = ''], flags) => {
  const { mediary, options } = await openClient(context);
  const moved = await mediary.collections.move(id, assetId, toPlace(flags), options);
  context.output.result(moved, () => formatChange(moved, 'moved'));
};

const removeAssets: Handler = async (context, [id = '', ...assetIds]) => {
  const { mediary, options } = await openClient(context);
  for (const assetId of assetIds) {
    const removed = await mediary.collections.remove(id, assetId, options);
    context.output.item(removed, () => formatChange(removed, 'removed'));
  }
};

const formatChange = (
  { changed_asset_ids: ids, asset_count: count }: CollectionItemsResult,
  verb: string,
): string => [...ids.map((id) => `${id}  ${verb}`), `${count} assets in the collection`].join('\n');
