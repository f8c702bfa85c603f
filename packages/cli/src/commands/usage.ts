// `usage`: what an owner stores, with the limits.
import type { Usage } from '@mediary/client';
import type { Command } from 'commander';
import { openClient } from '../client.ts';
import type { Handler, Runner } from '../context.ts';
import { formatBytes, formatTable } from '../text.ts';

export const addUsageCommand = (program: Command, run: Runner): Command =>
  program
    .command('usage')
    .description('Show bytes, assets and open uploads of the owner, with the limits')
    .action(run(showUsage));

const showUsage: Handler = async (context) => {
  const { mediary, options } = await openClient(context);
  const usage = await mediary.usage.get(options);
  context.output.result(usage, () => formatUsage(usage));
};

const formatUsage = ({ owner_user_id: owner, bytes, assets, pending }: Usage): string =>
  [
    `owner ${owner}`,
    formatTable(
      ['', 'USED', 'LIMIT'],
      [
        ['bytes', formatBytes(bytes.used), bytes.limit === null ? 'none' : formatBytes(bytes.limit)],
        ['assets', assets.used, assets.limit ?? 'none'],
        ['open uploads', pending.used, pending.limit ?? 'none'],
      ],
    ),
  ].join('\n');
