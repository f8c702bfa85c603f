// `migrate`: moves the library of another service, or of a bucket, to this one.
import { MediaryError } from '@mediary/client';
import { type Command, Option } from 'commander';
import { collect, parseCount } from '../arguments.ts';
import { type Client, openClient } from '../client.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { toExitCode } from '../failure.ts';
import { type ExistingAssets, readExistingAssets } from '../migrate/existing-assets.ts';
import { compareItem, type ItemReport, type ItemResult, planItem } from '../migrate/item-report.ts';
import { buildReport, formatReport, type MigrationReport } from '../migrate/migration-report.ts';
import { listLanguages, moveItem, toReport } from '../migrate/move-item.ts';
import { visibilityOf } from '../new-asset.ts';
import { openSource } from '../migrate/open-source.ts';
import { type MigrationSource, SOURCE_NAMES, type SourceItem, type SourceName } from '../migrate/source.ts';
import { toPlain } from '../text.ts';

type SourceFlags = {
  readonly from: SourceName;
  readonly bucket?: string;
  readonly group?: string;
  readonly limit?: number;
  readonly concurrency: number;
};

type RunFlags = SourceFlags & {
  readonly public?: boolean;
  readonly private?: boolean;
  readonly tag?: string[];
  readonly provider?: string;
  readonly wait?: boolean;
  readonly retryFailed?: boolean;
};

const HELP = `
Credentials of the source come from the environment: CDNHOST_…, EDGEHOST_…, MUX_TOKEN_ID, MUX_TOKEN_SECRET,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. The guide lists all: docs/guides/migrate.md

Examples:
  mediary migrate plan --from cdnhost --owner ann
  mediary migrate run --from bucket --bucket "s3://films?region=eu-central-1" --owner ann
  mediary migrate verify --from cdnhost --owner ann`;

export function addMigrateCommands(program: Command, run: Runner): void {
  const migrate = program
    .command('migrate')
    .description('Move the library of another service, or of a bucket, to this one')
    .addHelpText('after', HELP);
  addSourceOptions(migrate.command('plan'))
    .description('List the source: what will be moved, what is here already, and what cannot be moved')
    .action(run(plan));
  addSourceOptions(migrate.command('run'))
    .description('Import what is not here yet; the same command continues an interrupted run')
    .addOption(new Option('--private', 'only signed URLs play the assets').conflicts('public'))
    .option('--public', 'everybody can play the assets; default: as at the source')
    .option('--tag <tag>', 'tag of all assets; can be repeated', collect)
    .option('--provider <name>', 'provider of the videos')
    .option('--wait', 'wait until each asset is ready or failed')
    .option('--retry-failed', 'give failed assets another attempt')
    .action(run(runMigration));
  addSourceOptions(migrate.command('verify'))
    .description('Compare the source with the assets; exits with 1 if something is missing or different')
    .action(run(verify));
}

const addSourceOptions = (command: Command): Command =>
  command
    .addOption(
      new Option('--from <source>', 'where the library is').choices(SOURCE_NAMES).makeOptionMandatory(),
    )
    .option('--bucket <url>', 'with --from bucket: s3://<bucket>?region=<region>&prefix=<text>')
    .option('--group <name>', 'only the items of this collection (cdnhost) or creator (edgehost, mux)')
    .option('--limit <count>', 'look at the first items only', parseCount)
    .option('--concurrency <count>', 'items that are handled at the same time', parseCount, 4);

const plan: Handler<SourceFlags> = async (context, _args, flags) => {
  const opened = await openMigration(context, flags);
  const items = opened.items.map((item) => {
    const asset = opened.existing.find(item.id);
    return toReport(flags.from, item, { asset_id: asset?.id ?? null, ...planItem(item, asset) });
  });
  const report = buildReportOf(opened, ['new', 'existing', 'failed', 'not_movable'], items);
  context.output.result(report, () => formatReport(report));
};

const runMigration: Handler<RunFlags> = async (context, _args, flags) => {
  const opened = await openMigration(context, flags);
  const migration = {
    client: opened.client,
    existing: opened.existing,
    source: flags.from,
    options: { visibility: visibilityOf(flags), tags: flags.tag ?? [], provider: flags.provider },
    retriesFailed: flags.retryFailed === true,
    waitsUntilReady: flags.wait === true,
  };
  const items = await reportEach(context, { flags, items: opened.items }, (item) =>
    moveItem(migration, item),
  );
  const report = buildReportOf(opened, ['imported', 'existing', 'failed', 'not_movable'], items);
  context.output.result(report, () => formatReport(report));
  const { failed_count: failed = 0 } = report.counts;
  if (failed > 0)
    throw new CliError(`${failed} items failed.`, EXIT.failed, 'Another attempt: --retry-failed');
};

const verify: Handler<SourceFlags> = async (context, _args, flags) => {
  const opened = await openMigration(context, flags);
  const items = await reportEach(context, { flags, items: opened.items }, (item) => verifyItem(opened, item));
  const results = ['equal', 'missing', 'processing', 'different', 'failed', 'not_movable'] as const;
  const report = buildReportOf(opened, results, items);
  context.output.result(report, () => formatReport(report));
  const { equal_count: equal = 0, not_movable_count: notMovable = 0 } = report.counts;
  const unequal = report.item_count - equal - notMovable;
  if (unequal > 0) throw new CliError(`${unequal} items have no equal asset.`, EXIT.failed);
};

async function verifyItem({ client, existing }: OpenedMigration, item: SourceItem) {
  const asset = existing.find(item.id);
  const hasCaptions = asset?.kind === 'video' && asset.provider === 'onprem';
  const expected = hasCaptions ? (await item.listCaptions()).map(({ language }) => language) : [];
  const present = expected.length > 0 && asset ? await listLanguages(client, asset.id) : [];
  return { asset_id: asset?.id ?? null, ...compareItem(item, asset, { expected, present }) };
}

type OpenedMigration = {
  readonly client: Client;
  readonly from: MigrationSource;
  readonly existing: ExistingAssets;
  readonly items: readonly SourceItem[];
};

const MAX_RETRIES = 8;

async function openMigration(context: CommandContext, flags: SourceFlags): Promise<OpenedMigration> {
  const { io, output, signal } = context;
  if (flags.from === 'bucket' && flags.group !== undefined)
    throw usageError('--group is not for a bucket.', 'Choose objects by the prefix of --bucket.');
  const from = openSource({ from: flags.from, bucket: flags.bucket, env: io.env, signal });
  const { credential, owner } = await context.loadSettings();
  if (credential?.kind === 'service key' && owner === undefined)
    throw usageError('The assets need an owner.', 'Name the owner: --owner or MEDIARY_OWNER');
  const client = await openClient(context);
  const existing = await readExistingAssets(client, flags.from);
  const items: SourceItem[] = [];
  for await (const item of from.listItems()) {
    if (flags.group === undefined || item.group === flags.group) items.push(item);
    if (items.length === flags.limit) break;
  }
  output.note(`${flags.from} ${from.label} has ${items.length} items.`);
  // A long run outlives a restart of the service, and its rate limits.
  const patient = { ...client, options: { ...client.options, maxRetries: MAX_RETRIES } };
  return { client: patient, from, existing, items };
}

const buildReportOf = (
  { from: { name: source, label } }: OpenedMigration,
  results: readonly ItemResult[],
  items: readonly ItemReport[],
): MigrationReport => buildReport({ source, label, results }, items);

type ItemSet = { readonly flags: SourceFlags; readonly items: readonly SourceItem[] };
type Finding = Parameters<typeof toReport>[2];

/** A failure of an item is its result. Lost credentials and connections end the command. */
async function reportEach(
  { output, signal }: CommandContext,
  { flags, items }: ItemSet,
  handle: (item: SourceItem) => Promise<Finding>,
): Promise<ItemReport[]> {
  const reports: ItemReport[] = [];
  let [count, isStopped] = [0, false];
  const queue = items.entries();
  const handleNext = async (): Promise<void> => {
    for (const [index, item] of queue) {
      if (isStopped) return;
      const finding = await handle(item).catch((error: unknown) => {
        isStopped = isGeneral(error, signal);
        if (isStopped) throw error;
        return toFinding(error);
      });
      const report = toReport(flags.from, item, finding);
      reports[index] = report;
      count += 1;
      output.note(`${count} of ${items.length}: ${toPlain(report.external_id)} ${describeResult(report)}`);
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: flags.concurrency }, handleNext));
  const rejected = workers.find((worker) => worker.status === 'rejected');
  if (!rejected) return reports;
  output.note('The same command continues.');
  throw rejected.reason;
}

/** The next items would fail for the same cause. */
function isGeneral(error: unknown, signal: AbortSignal): boolean {
  const code = toExitCode(error);
  const isOfService = error instanceof MediaryError;
  return signal.aborted || (isOfService && (code === EXIT.auth || code === EXIT.unreachable));
}

const toFinding = (error: unknown): Finding => ({
  asset_id: null,
  result: 'failed',
  reason: error instanceof Error ? error.message : String(error),
});

const describeResult = ({ result, asset_id: id, reason }: ItemReport): string =>
  [result.replace('_', ' '), id, reason && `(${toPlain(reason)})`].filter(Boolean).join(' ');
