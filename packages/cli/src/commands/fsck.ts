// `fsck`: starts a storage check of the service, follows it, and prints what it found.
import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { parseCount } from '../arguments.ts';
import { type CommandContext, type Handler, openOperatorApi, type Runner } from '../context.ts';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import type { OperatorApi } from '../operator-api.ts';
import { toPlain } from '../text.ts';

type StorageCheck = {
  readonly id: string;
  readonly status: string;
  readonly stage: string;
  readonly object_count: number;
  readonly asset_count: number;
  readonly video_count: number;
  readonly finding_count: number;
  readonly repaired_count: number;
  readonly skipped_providers: readonly string[];
  readonly error: string | null;
  readonly finished_at: string | null;
};

type StorageFinding = {
  readonly kind: string;
  readonly asset_id: string | null;
  readonly key: string | null;
  readonly provider_video_id: string | null;
  readonly repair: string;
  readonly repaired_at: string | null;
  readonly repair_error: string | null;
};

type Options = {
  readonly repair?: boolean;
  readonly deleteUnknown?: boolean;
  readonly checksums?: boolean;
  readonly orphanAgeHours?: number;
};

export const addFsckCommand = (program: Command, run: Runner): Command =>
  program
    .command('fsck')
    .description('Compare the database with the object store and hosted providers (operator key)')
    .option('--repair', 'settle what is found; nothing that may be the only copy is deleted')
    .option('--delete-unknown', 'with --repair, also delete objects that the database does not know')
    .option('--checksums', 'read every original and compare its SHA-256')
    .option('--orphan-age-hours <n>', 'ignore younger orphaned objects', parseHours)
    .addHelpText('after', '\nExample:\n  mediary fsck --json > findings.json')
    .action(run(check));

/** 0 is allowed. */
const parseHours = (text: string): number => (text === '0' ? 0 : parseCount(text));

const check: Handler<Options> = async (context, _args, options) => {
  if (options.deleteUnknown && !options.repair) throw usageError('--delete-unknown needs --repair.');
  const api = await openOperatorApi(context);
  const started = await api.post<StorageCheck>('/checks', {
    repair: options.repair === true,
    delete_unknown: options.deleteUnknown === true,
    checksums: options.checksums === true,
    ...(options.orphanAgeHours !== undefined && { orphan_age_s: options.orphanAgeHours * 3600 }),
  });
  context.output.note(`Check ${started.id} runs as a job of the service; an interruption does not end it.`);
  const ended = await follow(context, api, started.id);
  const findings = await listFindings(api, started.id);
  context.output.result({ check: ended, findings }, () => formatReport(ended, findings));
  assertSettled(ended);
};

const POLL_MS = 1000;

async function follow(
  { output, signal }: CommandContext,
  api: OperatorApi,
  id: string,
): Promise<StorageCheck> {
  let shown = '';
  for (;;) {
    const seen = await api.get<StorageCheck>(`/checks/${id}`);
    if (seen.finished_at !== null) return seen;
    const progress = formatCounts(seen);
    if (progress !== shown) output.note(`${seen.status}: ${seen.stage}, ${progress}`);
    shown = progress;
    await delay(POLL_MS, undefined, { signal });
  }
}

type Page = { readonly items: readonly StorageFinding[]; readonly next_cursor: string | null };

async function listFindings(api: OperatorApi, id: string): Promise<readonly StorageFinding[]> {
  const findings: StorageFinding[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page = await api.get<Page>(`/checks/${id}/findings`, { limit: 1000, cursor });
    findings.push(...page.items);
    if (page.next_cursor === null) return findings;
    cursor = page.next_cursor;
  }
}

const formatCounts = ({ object_count, asset_count, video_count, finding_count }: StorageCheck): string =>
  `${object_count} objects, ${asset_count} assets, ${video_count} videos, ${finding_count} findings`;

function formatReport(ended: StorageCheck, findings: readonly StorageFinding[]): string {
  const skipped = ended.skipped_providers.map((name) => `The videos at ${name} were not compared.`);
  return [
    ...findings.map(formatFinding),
    `${formatCounts(ended)}, ${ended.repaired_count} repaired`,
    ...skipped,
  ]
    .map(toPlain)
    .join('\n');
}

function formatFinding(finding: StorageFinding): string {
  const { kind, asset_id: asset, key, provider_video_id: video, repair, repair_error: error } = finding;
  const result = finding.repaired_at
    ? `repaired: ${repair}`
    : error
      ? `failed: ${error}`
      : `repair: ${repair}`;
  return `${kind.padEnd(22)} ${asset ?? ''} ${key ?? video ?? ''}  (${result})`;
}

function assertSettled({
  status,
  error,
  finding_count: found,
  repaired_count: repaired,
}: StorageCheck): void {
  if (status !== 'done') throw new CliError(error ?? `The check was ${status}.`, EXIT.failed);
  if (found > repaired)
    throw new CliError(
      `${found - repaired} findings are not repaired.`,
      EXIT.failed,
      repaired === 0 ? 'mediary fsck --repair settles what can be settled without loss.' : undefined,
    );
}
