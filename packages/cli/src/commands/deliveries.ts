// `deliveries list`, `deliveries get` and `replay`: the webhooks that the service received, for operators.
import type { Command } from 'commander';
import { parseCount } from '../arguments.ts';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import { formatFields, formatTable, formatTime, toPlain } from '../text.ts';

type Filters = {
  readonly provider?: string;
  readonly asset?: string;
  readonly video?: string;
  readonly processed?: boolean;
  readonly reason?: string;
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
  readonly cursor?: string;
};

type DeliverySummary = {
  readonly id: string;
  readonly provider: string;
  readonly provider_video_id: string | null;
  readonly asset_id: string | null;
  readonly processed: boolean;
  readonly reason: string;
  readonly created_at: string;
  readonly latency_ms: number;
};
type Delivery = DeliverySummary & {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  readonly body_base64: string;
};
type Page<T> = { readonly items: readonly T[]; readonly next_cursor: string | null };

type ReplayItem = {
  readonly id: string;
  readonly asset_id: string | null;
  readonly processed: boolean;
  readonly reason: string;
  readonly stream_status_before: string | null;
  readonly stream_status_after: string | null;
  readonly changes: readonly string[];
};
type ReplayResult = Page<ReplayItem> & { readonly dry_run: boolean };

export function addDeliveryCommands(program: Command, run: Runner): void {
  const deliveries = program
    .command('deliveries')
    .description('List and inspect received webhooks (operator key)');
  addFilters(deliveries.command('list').description('List received webhooks, newest first')).action(
    run(listDeliveries),
  );
  deliveries
    .command('get')
    .description('Show a received webhook with its headers and body')
    .argument('<id>', 'id of the delivery')
    .action(run(getDelivery));
  addFilters(
    program
      .command('replay')
      .description('Apply received webhooks again; a dry run unless --apply is given (operator key)')
      .argument('[id]', 'one delivery; without it all that match the filters, oldest first'),
  )
    .option('--apply', 'change the assets instead of showing what would change')
    .action(run(replay));
}

const addFilters = (command: Command): Command =>
  command
    .option('--provider <name>', 'only webhooks of this provider')
    .option('--asset <id>', 'only webhooks of this asset')
    .option('--video <id>', 'only webhooks of this provider video')
    .option('--processed', 'only webhooks that were applied')
    .option('--no-processed', 'only webhooks that were not applied')
    .option('--reason <reason>', 'only webhooks with this result, such as late or parked')
    .option('--after <time>', 'received after this time, ISO 8601')
    .option('--before <time>', 'received before this time, ISO 8601')
    .option('--limit <count>', 'number of webhooks', parseCount)
    .option('--cursor <cursor>', 'continue after an earlier page');

const toQuery = (filters: Filters) => ({
  provider: filters.provider,
  asset_id: filters.asset,
  provider_video_id: filters.video,
  processed: filters.processed,
  reason: filters.reason,
  created_after: filters.after,
  created_before: filters.before,
  limit: filters.limit,
  cursor: filters.cursor,
});

const listDeliveries: Handler<Filters> = async (context, _args, filters) => {
  const api = await openOperatorApi(context);
  const page = await api.get<Page<DeliverySummary>>('/deliveries', toQuery(filters));
  context.output.result(page, () =>
    formatTable(
      ['ID', 'RECEIVED', 'PROVIDER', 'PROCESSED', 'REASON', 'ASSET'],
      page.items.map((item) => [
        item.id,
        formatTime(item.created_at),
        item.provider,
        item.processed ? 'yes' : 'no',
        item.reason,
        item.asset_id ?? item.provider_video_id,
      ]),
    ),
  );
  noteNextPage(context, page.next_cursor);
};

const getDelivery: Handler = async (context, [id = '']) => {
  const api = await openOperatorApi(context);
  const delivery = await api.get<Delivery>(`/deliveries/${encodeURIComponent(id)}`);
  context.output.result(delivery, () => formatDelivery(delivery));
};

function formatDelivery(delivery: Delivery): string {
  const fields = formatFields([
    ['id', delivery.id],
    ['received', formatTime(delivery.created_at)],
    ['provider', delivery.provider],
    ['video', delivery.provider_video_id],
    ['asset', delivery.asset_id],
    ['processed', `${delivery.processed ? 'yes' : 'no'} (${delivery.reason})`],
    ['latency', `${delivery.latency_ms} ms`],
  ]);
  const headers = Object.entries(delivery.headers).map(([name, value]) => toPlain(`${name}: ${value}`));
  const body = delivery.body === null ? `${delivery.body_base64} (base64)` : toPlainLines(delivery.body);
  return [fields, '', ...headers, '', body].join('\n');
}

const toPlainLines = (text: string): string => text.split('\n').map(toPlain).join('\n');

const replay: Handler<Filters & { readonly apply?: boolean }> = async (context, [id], options) => {
  const { apply: isApplied = false, ...filters } = options;
  if (isApplied && id === undefined && Object.keys(filters).length === 0)
    throw usageError('replay --apply without an id needs a filter.', 'Example: --reason parked');
  const api = await openOperatorApi(context);
  const result = await api.post<ReplayResult>('/deliveries/replay', {
    ...(id === undefined ? {} : { id }),
    ...toQuery(filters),
    dry_run: !isApplied,
  });
  context.output.result(result, () => formatReplay(result.items));
  noteNextPage(context, result.next_cursor);
  if (result.dry_run) context.output.note('Dry run: nothing was changed. Add --apply to change the assets.');
};

const formatReplay = (items: readonly ReplayItem[]): string =>
  formatTable(
    ['ID', 'ASSET', 'REASON', 'BEFORE', 'AFTER', 'CHANGES'],
    items.map((item) => [
      item.id,
      item.asset_id,
      item.reason,
      item.stream_status_before,
      item.stream_status_after,
      item.changes.join(', ') || 'none',
    ]),
  );

function noteNextPage({ output }: CommandContext, cursor: string | null): void {
  if (cursor !== null) output.note(`More: --cursor ${cursor}`);
}
