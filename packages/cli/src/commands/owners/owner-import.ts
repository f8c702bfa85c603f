// `owners import`: restores an archive of `owners export`, for operators.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { type Handler, openOperatorApi, type Runner } from '../../context.ts';
import { CliError, EXIT, usageError } from '../../exit-codes.ts';
import { formatFields, formatTable } from '../../text.ts';

type ImportedItem = {
  readonly asset_id: string;
  readonly result: 'imported' | 'already_there' | 'refused';
  readonly code: string | null;
  readonly message: string | null;
};
type ImportReport = {
  readonly owner_user_id: string;
  readonly is_complete: boolean;
  readonly problem: { readonly code: string; readonly message: string } | null;
  readonly counts: Readonly<Record<`${ImportedItem['result']}_count`, number>>;
  readonly items: readonly ImportedItem[];
};

export const addOwnerImport = (owners: Command, run: Runner): Command =>
  owners
    .command('import')
    .description('Restore an archive of `owners export`, here or on another service')
    .argument('<file>', 'archive; send the same one again to continue')
    .action(run(importOwner));

const importOwner: Handler = async (context, [file = '']) => {
  const owner = await readOwner(file);
  const api = await openOperatorApi(context);
  const path = `/owners/${encodeURIComponent(owner)}/import`;
  const report = await api.send<ImportReport>(path, createReadStream(file));
  context.output.result(report, () => formatReport(report));
  if (!report.is_complete)
    throw new CliError(report.problem?.message ?? 'The import is not complete.', EXIT.failed);
  const { refused_count: refused } = report.counts;
  if (refused > 0) throw new CliError(`${refused} assets were refused.`, EXIT.failed);
};

/** A header of tar, and the small file behind it. */
const HEADER_BYTES = 512;
const MAX_HEAD_BYTES = 16 * 1024;

async function readOwner(file: string): Promise<string> {
  const handle = await open(file).catch((error: Error) => {
    throw usageError(`The file ${file} cannot be read: ${error.message}`);
  });
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(MAX_HEAD_BYTES), position: 0 });
    const owner = parseOwner(buffer.subarray(0, bytesRead));
    if (owner !== undefined) return owner;
    throw usageError(`The file ${file} is not an archive of \`mediary owners export\`.`);
  } finally {
    await handle.close();
  }
}

/** The first file of an archive names the owner. */
function parseOwner(head: Buffer): string | undefined {
  if (head.toString('latin1', 0, 12) !== 'export.json\0') return undefined;
  const sizeBytes = Number.parseInt(head.toString('latin1', 124, 135), 8);
  try {
    const about = JSON.parse(head.toString('utf8', HEADER_BYTES, HEADER_BYTES + sizeBytes)) as object;
    return 'owner_user_id' in about && typeof about.owner_user_id === 'string'
      ? about.owner_user_id
      : undefined;
  } catch {
    return undefined;
  }
}

function formatReport({
  owner_user_id: owner,
  is_complete: isComplete,
  counts,
  items,
}: ImportReport): string {
  const fields = formatFields([
    ['owner', owner],
    ['complete', isComplete ? 'yes' : 'no'],
    ['imported', counts.imported_count],
    ['already there', counts.already_there_count],
    ['refused', counts.refused_count],
  ]);
  const refused = items.filter(({ result }) => result === 'refused');
  if (refused.length === 0) return fields;
  const rows = refused.map(({ asset_id: id, code, message }) => [id, code, message]);
  return `${fields}\n\n${formatTable(['REFUSED', 'CODE', 'REASON'], rows)}`;
}
