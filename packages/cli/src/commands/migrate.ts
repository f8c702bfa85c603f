// `migrate`: moves the library of another service, or of a bucket, to this one.
import { type Command, Option } from 'commander';
import { collect, parseCount } from '../arguments.ts';
import { type Client, openClient } from '../client.ts';
import type { CommandContext, Handler, Runner } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { type Adoption, openAdoption } from '../migrate/adoption.ts';
import { type ExistingAssets, readExistingAssets } from '../migrate/existing-assets.ts';
import { compareItem, type ItemReport, type ItemResult, planItem } from '../migrate/item-report.ts';
import { toImportRequest } from '../migrate/import-request.ts';
import { buildReport, formatReport, type MigrationReport } from '../migrate/migration-report.ts';
import { listLanguages, moveItem } from '../migrate/move-item.ts';
import { visibilityOf } from '../new-asset.ts';
import { openSource } from '../migrate/open-source.ts';
import { reportEach } from '../migrate/report-each.ts';
import { type MigrationSource, SOURCE_NAMES, type SourceItem, type SourceName } from '../migrate/source.ts';

type SourceFlags = {
  readonly from: SourceName;
  readonly bucket?: string;
  readonly folder?: string;
  readonly inPlace?: boolean;
  readonly group?: string;
  readonly limit?: number;
  readonly concurrency: number;
};

type RunFlags = SourceFlags & {
  readonly move?: boolean;
  readonly public?: boolean;
  readonly private?: boolean;
  readonly tag?: string[];
  readonly provider?: string;
  readonly wait?: boolean;
  readonly retryFailed?: boolean;
};

/** A long run outlives a restart of the service, and its rate limits. */
const MAX_RETRIES = 8;

const HELP = `
Credentials of the source come from the environment: CDNHOST_…, EDGEHOST_…, MUX_TOKEN_ID, MUX_TOKEN_SECRET,
AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. The guide lists all: docs/guides/migrate.md

Examples:
  mediary migrate plan --from cdnhost --owner ann
  mediary migrate run --from bucket --bucket "s3://films?region=eu-central-1" --owner ann
  mediary migrate run --from bucket --bucket "s3://films?region=eu-central-1" --owner ann --in-place --move
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
    .option('--move', 'with --in-place: delete each file at its place once its asset was accepted')
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
    .option('--folder <path>', 'with --from folder: a folder that the service sees under the same path')
    .option(
      '--in-place',
      'adopt the files, which lie beside the objects of the service; needs the operator key',
    )
    .option('--group <name>', 'only the items of this collection (cdnhost) or creator (edgehost, mux)')
    .option('--limit <count>', 'look at the first items only', parseCount)
    .option('--concurrency <count>', 'items that are handled at the same time', parseCount, 4);

const plan: Handler<SourceFlags> = async (context, _args, flags) => {
  const opened = await openMigration(context, flags);
  const adoption = isInPlace(flags)
    ? await openAdoption(context, { isMove: false, maxRetries: MAX_RETRIES })
    : undefined;
  const items = await reportEach(
    context,
    { flags, items: opened.items, isQuiet: !adoption },
    async (item) => {
      const asset = opened.existing.find(item.id);
      const finding = { asset_id: asset?.id ?? null, ...planItem(item, asset) };
      return adoption && finding.result === 'new' ? checkAdoption(adoption, flags.from, item) : finding;
    },
  );
  const report = buildReportOf(opened, ['new', 'existing', 'failed', 'not_movable'], items);
  context.output.result(report, () => formatReport(report));
};

async function checkAdoption(adoption: Adoption, source: SourceName, item: SourceItem) {
  const options = { visibility: undefined, tags: [], provider: undefined };
  const file = await item.openFile();
  return adoption.check(item, toImportRequest({ source, item, file, options }));
}

/** The service cannot download a file of a folder. */
const isInPlace = ({ from, inPlace }: SourceFlags): boolean => inPlace === true || from === 'folder';

const runMigration: Handler<RunFlags> = async (context, _args, flags) => {
  if (flags.move && !isInPlace(flags)) throw usageError('--move is for --in-place.');
  const opened = await openMigration(context, flags);
  const migration = {
    client: opened.client,
    existing: opened.existing,
    source: flags.from,
    options: { visibility: visibilityOf(flags), tags: flags.tag ?? [], provider: flags.provider },
    adoption: isInPlace(flags)
      ? await openAdoption(context, { isMove: flags.move === true, maxRetries: MAX_RETRIES })
      : undefined,
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

async function openMigration(context: CommandContext, flags: SourceFlags): Promise<OpenedMigration> {
  const { io, output, signal } = context;
  assertFlags(flags);
  const { bucket, folder } = flags;
  const from = openSource({ from: flags.from, bucket, folder, env: io.env, signal });
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
  const patient = { ...client, options: { ...client.options, maxRetries: MAX_RETRIES } };
  return { client: patient, from, existing, items };
}

function assertFlags({ from, group, inPlace }: SourceFlags): void {
  const hasFiles = from === 'bucket' || from === 'folder';
  if (hasFiles && group !== undefined)
    throw usageError(
      `--group is not for a ${from}.`,
      'Choose files by the prefix of --bucket, or by --folder.',
    );
  if (inPlace && !hasFiles)
    throw usageError(`--in-place is not for ${from}, whose files lie elsewhere.`, 'Omit --in-place');
}

const buildReportOf = (
  { from: { name: source, label } }: OpenedMigration,
  results: readonly ItemResult[],
  items: readonly ItemReport[],
): MigrationReport => buildReport({ source, label, results }, items);
