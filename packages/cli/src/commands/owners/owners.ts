// `owners`: exports and erases all that is kept of one owner, and verifies receipts, for operators.
import { createWriteStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../../context.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';
import type { OperatorApi } from '../../operator-api.ts';
import { isOfOwner, type VerifiedReceipt, verifyReceipt } from '../../receipt.ts';
import { formatFields, formatTime } from '../../text.ts';
import { addOwnerImport } from './owner-import.ts';
import { addOwnerList } from './owner-ranking.ts';

type Wait = {
  readonly reason: string;
  readonly asset_count: number;
  readonly provider?: string;
  readonly error?: string | null;
};
type Erasure = {
  readonly id: string;
  readonly status: 'running' | 'completed';
  readonly phase: string;
  readonly counts: Readonly<
    Record<
      'asset_count' | 'removed_asset_count' | 'provider_video_count' | 'removed_provider_video_count',
      number
    >
  >;
  readonly waiting: readonly Wait[];
  readonly completed_at: string | null;
};
type EraseFlags = {
  readonly yes?: boolean;
  readonly leaveProviderVideos?: boolean;
  readonly wait?: boolean;
  readonly receipt?: string;
};
type VerifyFlags = { readonly publicKey?: string; readonly ofOwner?: string };

export function addOwnerCommands(program: Command, run: Runner): void {
  const owners = program
    .command('owners')
    .description('Rank owners, and export, import or erase all that is kept of one (operator key)');
  addOwnerList(owners, run);
  owners
    .command('erase')
    .description('Remove everything of an owner for good, also copies at providers')
    .argument('<owner>', 'id of the owner')
    .option('--yes', 'erase without asking; required')
    .option('--wait', 'wait until it is completed')
    .option('--receipt <file>', 'wait, then save the signed receipt')
    .option('--leave-provider-videos', 'complete although hosted providers still have videos')
    .action(run(eraseOwner));
  owners
    .command('export')
    .description('Save a tar archive of originals, captions, metadata and events')
    .argument('<owner>', 'id of the owner')
    .requiredOption('-o, --output <file>', 'new file; - is standard output')
    .action(run(exportOwner));
  addOwnerImport(owners, run);
  owners
    .command('erasure')
    .description('Show the progress of an erasure')
    .argument('<owner>', 'id of the owner')
    .argument('<id>', 'id of the erasure')
    .option('--receipt <file>', 'save the signed receipt')
    .action(run(showErasure));
  owners
    .command('verify')
    .description('Verify the receipt of an erasure, with a public key or that of the service')
    .argument('<file>', 'receipt')
    .option('--public-key <key>', 'key that you trust, instead of asking the service')
    .option('--of-owner <owner>', 'also verify that it is of this owner')
    .action(run(verifyFile));
}

const pathOf = (owner: string): string => `/owners/${encodeURIComponent(owner)}`;

const eraseOwner: Handler<EraseFlags> = async (context, [owner = ''], flags) => {
  if (!flags.yes)
    throw usageError(
      `This removes everything of the owner ${owner} for good.`,
      'Add --yes to do it. `mediary owners export` saves a copy before.',
    );
  const api = await openOperatorApi(context);
  await withReceiptFile(flags.receipt, async (file) => {
    const { erasure } = await api.delete<{ erasure: Erasure }>(pathOf(owner), {
      leave_provider_videos: flags.leaveProviderVideos,
    });
    const { id } = erasure;
    context.output.note(`The service runs erasure ${id}, also after an interruption.`);
    context.output.note(`Show its progress: mediary owners erasure ${owner} ${id}`);
    const isAwaited = flags.wait || file !== undefined;
    try {
      const ended = isAwaited ? await follow(context, api, { owner, erasure }) : erasure;
      await saveReceipt(api, `${pathOf(owner)}/erasures/${id}/receipt`, file);
      context.output.result(ended, () => formatErasure(ended));
    } catch (error) {
      // `--quiet` hides the notes, and the service does not list erasures.
      context.output.warn(`The result is missing. Show it: mediary owners erasure ${owner} ${id}`);
      throw error;
    }
  });
};

const exportOwner: Handler<{ readonly output: string }> = async (context, [owner = ''], { output }) => {
  const api = await openOperatorApi(context);
  const archive = Readable.fromWeb((await api.stream(`${pathOf(owner)}/export`)) as never);
  if (output === '-') return pipeline(archive, context.io.stdout, { end: false });
  // The last bytes of an archive are zeros, so a part of one must not have the name of a whole one.
  const part = `${output}.${process.pid}.part`;
  if (existsSync(output)) throw usageError(`The file ${output} exists already.`);
  try {
    await pipeline(archive, createWriteStream(part, { flags: 'wx' }), { signal: context.signal });
    await rename(part, output);
  } finally {
    await rm(part, { force: true });
  }
  context.output.note(`Saved ${output}`);
};

const showErasure: Handler<EraseFlags> = async (context, [owner = '', id = ''], { receipt }) => {
  const api = await openOperatorApi(context);
  const path = `${pathOf(owner)}/erasures/${encodeURIComponent(id)}`;
  await withReceiptFile(receipt, async (file) => {
    const { erasure } = await api.get<{ erasure: Erasure }>(path);
    await saveReceipt(api, `${path}/receipt`, file);
    context.output.result(erasure, () => formatErasure(erasure));
  });
};

const POLL_MS = 1000;

async function follow(
  { output, signal }: CommandContext,
  api: OperatorApi,
  { owner, erasure: started }: { readonly owner: string; readonly erasure: Erasure },
): Promise<Erasure> {
  let erasure = started;
  let shown = '';
  while (erasure.status !== 'completed') {
    const line = formatProgress(erasure);
    if (line !== shown) output.note(line);
    shown = line;
    await sleep(POLL_MS, undefined, { signal });
    ({ erasure } = await api.get<{ erasure: Erasure }>(`${pathOf(owner)}/erasures/${started.id}`));
  }
  return erasure;
}

/** Creates the file before `run`: nobody can undo an erasure whose receipt finds no place. */
async function withReceiptFile(
  path: string | undefined,
  run: (file: FileHandle | undefined) => Promise<void>,
): Promise<void> {
  if (path === undefined) return run(undefined);
  const file = await open(path, 'wx').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'EEXIST' ? 'it exists already' : error.message;
    throw usageError(`The file ${path} cannot be created: ${reason}.`, 'Name another file with --receipt.');
  });
  try {
    await run(file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function saveReceipt(api: OperatorApi, path: string, file: FileHandle | undefined): Promise<void> {
  if (!file) return;
  const body = await api.stream(path);
  await pipeline(Readable.fromWeb(body as never), file.createWriteStream());
}

const formatProgress = ({ phase, counts, waiting }: Erasure): string =>
  [
    `${phase}: ${counts.removed_asset_count} of ${counts.asset_count} assets removed`,
    ...waiting.map(formatWait),
  ].join('; ');

const formatWait = ({ reason, asset_count: count, provider, error }: Wait): string =>
  `${count} wait for ${provider ?? reason}${error ? ` (${error})` : ''}`;

const formatErasure = (erasure: Erasure): string =>
  formatFields([
    ['erasure', erasure.id],
    ['status', erasure.status],
    ['assets', `${erasure.counts.removed_asset_count} of ${erasure.counts.asset_count} removed`],
    [
      'videos',
      `${erasure.counts.removed_provider_video_count} of ${erasure.counts.provider_video_count} removed`,
    ],
    ['waiting', erasure.waiting.map(formatWait).join('; ') || null],
    ['completed', erasure.completed_at && formatTime(erasure.completed_at)],
  ]);

const verifyFile: Handler<VerifyFlags> = async (context, [file = ''], { publicKey, ofOwner }) => {
  const receipt = await verifyReceipt(file).catch((error: Error) => {
    throw new CliError(error.message, EXIT.failed);
  });
  await assertTrusted(context, receipt, publicKey);
  if (ofOwner !== undefined && !isOfOwner(receipt.statement, ofOwner))
    throw new CliError(`The receipt is not of the owner ${ofOwner}.`, EXIT.failed);
  const { statement } = receipt;
  context.output.result(statement, () =>
    formatFields([
      ['receipt', 'valid'],
      ['erasure', statement.erasure_id],
      ['assets', statement.assets],
      ['completed', formatTime(statement.completed_at)],
    ]),
  );
};

async function assertTrusted(
  context: CommandContext,
  { publicKey }: VerifiedReceipt,
  given: string | undefined,
): Promise<void> {
  const trusted =
    given === undefined
      ? (await (await openOperatorApi(context)).get<{ items: string[] }>('/receipt-keys')).items
      : [given];
  if (trusted.includes(publicKey)) return;
  throw new CliError(
    'Another key has signed the receipt.',
    EXIT.failed,
    'After a rotation of URL_SIGNING_SECRET pass the earlier key: --public-key <key>',
  );
}
