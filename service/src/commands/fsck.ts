// `npm run fsck`: runs a storage check in this process, beside a running service or without one.
import { parseArgs } from 'node:util';
import type {
  StartCheckRequest,
  StorageCheck,
  StorageFinding,
} from '@mediary/contract/schemas/admin/storage-checks';

export const FSCK_USAGE =
  'npm run fsck -- [--repair [--delete-unknown]] [--checksums] [--orphan-age-hours <n>] [--json]';

type Findings = { readonly items: readonly StorageFinding[]; readonly next_cursor: string | null };

type FsckContext = {
  readonly checks: {
    createCheck(request: StartCheckRequest): Promise<StorageCheck>;
    runCheck(id: string, signal: AbortSignal): Promise<void>;
    getCheck(id: string): Promise<StorageCheck>;
    cancelCheck(id: string): Promise<StorageCheck>;
    listFindings(id: string, page: { limit: number; cursor: string | undefined }): Promise<Findings>;
  };
  readonly print: (text: string) => void;
  readonly printProgress: (text: string) => void;
};

const OPTIONS = {
  json: { type: 'boolean' },
  repair: { type: 'boolean' },
  'delete-unknown': { type: 'boolean' },
  checksums: { type: 'boolean' },
  'orphan-age-hours': { type: 'string' },
} as const;

const PROGRESS_EVERY_MS = 2000;

/** Throws where something stays that was not repaired. */
export async function runFsckCommand(context: FsckContext, args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const { checks, print, printProgress } = context;
  const { id } = await checks.createCheck(toRequest(values));
  const timer = setInterval(() => {
    void checks.getCheck(id).then(
      (check) => printProgress(renderProgress(check)),
      () => undefined,
    );
  }, PROGRESS_EVERY_MS);
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('The check was interrupted.'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    await checks.runCheck(id, stopping.signal);
  } catch (error) {
    await checks.cancelCheck(id);
    throw error;
  } finally {
    clearInterval(timer);
  }
  const check = await checks.getCheck(id);
  if (values.json) print(`{"check":${JSON.stringify(check)},"findings":[`);
  let separator = '\n';
  for await (const finding of listAll(checks, id)) {
    print(values.json ? `${separator}${JSON.stringify(finding)}` : renderFinding(finding));
    separator = ',\n';
  }
  print(values.json ? ']}\n' : renderSum(check));
  assertSettled(check);
}

function toRequest(
  values: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'],
): StartCheckRequest {
  const hours = values['orphan-age-hours'];
  if (hours !== undefined && !/^\d{1,5}$/.test(hours))
    throw new Error('--orphan-age-hours must be a number of hours, at least 0');
  if (values['delete-unknown'] && !values.repair) throw new Error('--delete-unknown needs --repair');
  return {
    repair: values.repair ?? false,
    delete_unknown: values['delete-unknown'] ?? false,
    checksums: values.checksums ?? false,
    ...(hours !== undefined && { orphan_age_s: Number(hours) * 3600 }),
  };
}

async function* listAll(checks: FsckContext['checks'], id: string): AsyncGenerator<StorageFinding> {
  for (let cursor: string | undefined; ; ) {
    const page: Findings = await checks.listFindings(id, {
      limit: 1000,
      cursor,
    });
    yield* page.items;
    if (page.next_cursor === null) return;
    cursor = page.next_cursor;
  }
}

const renderProgress = ({
  stage,
  object_count,
  asset_count,
  video_count,
  finding_count,
}: StorageCheck): string =>
  [
    `  ${stage}: ${object_count} objects, ${asset_count} assets, ${video_count} videos`,
    `${finding_count} findings
`,
  ].join(', ');

const renderFinding = (finding: StorageFinding): string => {
  const {
    kind,
    asset_id: asset,
    key,
    provider_video_id: video,
    repair,
    repaired_at: at,
    repair_error: error,
  } = finding;
  const result = at ? `repaired: ${repair}` : error ? `not repaired: ${error}` : `repair: ${repair}`;
  return `${kind.padEnd(22)} ${asset ?? ''} ${key ?? video ?? ''}  (${result})\n`;
};

function renderSum({ findings_by_kind: kinds, skipped_providers: skipped, ...check }: StorageCheck): string {
  const lines = [
    `${check.object_count} objects, ${check.asset_count} assets and ${check.video_count} videos compared`,
    ...Object.entries(kinds).map(([kind, count]) => `  ${count} × ${kind}`),
    ...skipped.map(
      (provider) => `  the videos at ${provider} were not compared: not configured or not reachable`,
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function assertSettled({
  status,
  error,
  finding_count: found,
  repaired_count: repaired,
}: StorageCheck): void {
  if (status !== 'done') throw new Error(error ?? `The check was ${status}.`);
  if (found > repaired)
    throw new Error(
      `${found - repaired} findings are not repaired. docs/guides/backup.md says what each means.`,
    );
}
