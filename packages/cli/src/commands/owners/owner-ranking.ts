// `owners list`: the owners, ranked by what they store, for operators.
import type { Command } from 'commander';
import { parseCount } from '../../arguments.ts';
import { type Handler, openOperatorApi, type Runner } from '../../context.ts';
import { formatBytes, formatTable, formatTime } from '../../text.ts';

type Owner = {
  readonly owner_user_id: string;
  readonly bytes: number;
  readonly max_bytes: number | null;
  readonly assets: number;
  readonly counted_at: string;
};
type OwnerFilters = {
  readonly search?: string;
  readonly sort?: string;
  readonly limit?: number;
  readonly cursor?: string;
};
type OwnerPage = { readonly items: readonly Owner[]; readonly next_cursor: string | null };

export const addOwnerList = (owners: Command, run: Runner): Command =>
  owners
    .command('list')
    .description('Rank the owners by what they store')
    .option('--search <text>', 'only owners whose id contains this text')
    .option('--sort <order>', 'bytes (default) or assets')
    .option('--limit <count>', 'number of owners', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page')
    .action(run(listOwners));

const listOwners: Handler<OwnerFilters> = async (context, _args, filters) => {
  const api = await openOperatorApi(context);
  const page = await api.get<OwnerPage>('/owners', filters);
  context.output.result(page, () =>
    formatTable(
      ['OWNER', 'BYTES', 'LIMIT', 'ASSETS', 'COUNTED'],
      page.items.map((owner) => [
        owner.owner_user_id,
        formatBytes(owner.bytes),
        owner.max_bytes === null ? 'none' : formatBytes(owner.max_bytes),
        owner.assets,
        formatTime(owner.counted_at),
      ]),
    ),
  );
  if (page.next_cursor !== null) context.output.note(`More: --cursor ${page.next_cursor}`);
};
