// `collections`: creates, lists, fills and orders collections of the owner.
import type { Collection, Playlist } from '@mediary/client';
import { type Command, Option } from 'commander';
import { parseCount } from '../../arguments.ts';
import { openClient } from '../../client.ts';
import type { CommandContext, Handler, Runner } from '../../context.ts';
import { formatFields, formatTable, formatTime, toPlain } from '../../text.ts';
import { addItemCommands } from './items.ts';

export function addCollectionCommands(program: Command, run: Runner): Command {
  const collections = program.command('collections').description('Named, ordered collections of assets');
  collections
    .command('ls')
    .description('List the collections of the owner, newest first')
    .option('--limit <count>', 'collections of one page, at most 100', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .action(run(listCollections));
  addPresentation(collections.command('create'))
    .description('Create a collection')
    .argument('<name>', 'name for people')
    .action(run(createCollection));
  addPresentation(collections.command('update'))
    .description('Change a collection; what is not named stays')
    .argument('<id>', 'id of the collection')
    .option('--name <name>', 'new name')
    .action(run(updateCollection));
  collections
    .command('delete')
    .description('Delete a collection; its assets stay')
    .argument('<id>', 'id of the collection')
    .action(run(deleteCollection));
  collections
    .command('playlist')
    .description('Print the ready assets of a collection with playback URLs')
    .argument('<id>', 'id of the collection')
    .action(run(showPlaylist));
  addItemCommands(collections, run);
  return collections;
}

type Presentation = { readonly description?: string; readonly visibility?: Collection['visibility'] };

const addPresentation = (command: Command): Command =>
  command
    .option('--description <text>', 'description')
    .addOption(new Option('--visibility <who>', 'who can read the playlist').choices(['private', 'public']));

type PageFlags = { readonly limit?: number; readonly cursor?: string };

const listCollections: Handler<PageFlags> = async (context, _args, flags) => {
  const { mediary, options } = await openClient(context);
  const page = await mediary.collections.list({ limit: flags.limit, cursor: flags.cursor }, options).page();
  context.output.result(page, () =>
    formatTable(
      ['ID', 'ASSETS', 'VISIBILITY', 'NAME'],
      page.items.map((each) => [each.id, each.asset_count, each.visibility, each.name]),
    ),
  );
  if (page.next_cursor !== null) context.output.note(`More: --cursor ${page.next_cursor}`);
};

const createCollection: Handler<Presentation> = async (context, [name = ''], flags) => {
  const { mediary, options } = await openClient(context);
  print(context, await mediary.collections.create({ name, ...flags }, options));
};

const updateCollection: Handler<Presentation & { readonly name?: string }> = async (
  context,
  [id = ''],
  flags,
) => {
  const { mediary, options } = await openClient(context);
  print(context, await mediary.collections.update(id, flags, options));
};

const deleteCollection: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  const deleted = await mediary.collections.delete(id, options);
  context.output.result(deleted, () => `${deleted.id}  deleted`);
};

/** All pages. */
const showPlaylist: Handler = async (context, [id = '']) => {
  const { mediary, options } = await openClient(context);
  const list = mediary.collections.playlist(id, {}, options);
  for await (const item of list) context.output.item(item, () => formatPlaylistItem(item));
};

const formatPlaylistItem = ({ asset_id: id, title, hls, image }: Playlist['items'][number]): string =>
  [id, toPlain(title ?? ''), hls ?? image ?? ''].join('  ');

const print = ({ output }: CommandContext, collection: Collection): void =>
  output.result(collection, () =>
    formatFields([
      ['id', collection.id],
      ['name', collection.name],
      ['description', collection.description],
      ['owner', collection.owner_user_id],
      ['visibility', collection.visibility],
      ['assets', collection.asset_count],
      ['created', formatTime(collection.created_at)],
    ]),
  );
