// `tag`: adds tags to assets and removes them.
import type { BatchResult } from '@mediary/client';
import type { Command } from 'commander';
import { collect } from '../../arguments.ts';
import { openClient } from '../../client.ts';
import type { Handler, Runner } from '../../context.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';

/** Of one request. */
const MAX_IDS = 100;

export const addTagCommand = (program: Command, run: Runner): Command =>
  program
    .command('tag')
    .description('Add tags to assets, and remove them; other tags stay')
    .argument('<id...>', 'ids of assets')
    .option('--add <tag>', 'tag to add; can be repeated', collect)
    .option('--remove <tag>', 'tag to remove; can be repeated', collect)
    .action(run(tagAssets));

type TagFlags = { readonly add?: string[]; readonly remove?: string[] };

const tagAssets: Handler<TagFlags> = async (context, ids, { add, remove }) => {
  if (!add && !remove) throw usageError('Nothing to do.', 'Name tags with --add or --remove.');
  const { mediary, options } = await openClient(context);
  const change = { action: 'update', add_tags: add, remove_tags: remove } as const;
  let failed = 0;
  for (let first = 0; first < ids.length; first += MAX_IDS) {
    const request = { ids: ids.slice(first, first + MAX_IDS), ...change };
    const { items, failed_count: count } = await mediary.media.changeMany(request, options);
    for (const item of items) context.output.item(item, () => formatItem(item));
    failed += count;
  }
  if (failed > 0) throw new CliError(`${failed} of ${ids.length} assets were not changed.`, EXIT.failed);
};

const formatItem = ({ id, error }: BatchResult['items'][number]): string =>
  `${id}  ${error === null ? 'tagged' : `${error.error_code}: ${error.message}`}`;
