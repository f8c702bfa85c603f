// The data folder of `mediary dev`: a file in it says that the command created it, and may empty it.
import { lstat, mkdir, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError, EXIT, usageError } from '../exit-codes.ts';
import { createForwardSecret, isForwardSecret } from '../events/webhook-forwarder.ts';
import { readPrivateFile, writePrivateFile } from '../settings/private-file.ts';

const MARKER = '.mediary-dev.json';
/** The embedded database; a link where root's database has to lie elsewhere. */
const DATABASE = 'postgres';

type Marker = {
  /** The folder that the command created; null: the folder had content when the command came. */
  readonly created_folder: string | null;
  /** Stays the same, so that servers keep it in their settings. */
  readonly webhook_secret: string;
};

type DevFolder = { readonly webhookSecret: string; readonly notes: readonly string[] };

/** `isFresh`: empties the folder, which throws unless this command created it. */
export async function openDevFolder(
  folder: string,
  { isFresh }: { readonly isFresh: boolean },
): Promise<DevFolder> {
  const entries = await listEntries(folder);
  const notes = isFresh && entries.length > 0 ? await emptyFolder(folder, entries) : [];
  const marker = await readMarker(folder);
  if (marker) return { webhookSecret: marker.webhook_secret, notes };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const created: Marker = {
    created_folder: entries.length === 0 ? await realpath(folder) : null,
    webhook_secret: createForwardSecret(),
  };
  await writePrivateFile(join(folder, MARKER), `${JSON.stringify(created, null, 2)}\n`);
  return { webhookSecret: created.webhook_secret, notes };
}

async function listEntries(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw usageError(`${folder} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

/** The marker stays, so that an interrupted deletion can be repeated. Returns notes for people. */
async function emptyFolder(folder: string, entries: readonly string[]): Promise<string[]> {
  await assertOwnFolder(folder);
  await assertUnused(folder);
  const outside = await readlink(join(folder, DATABASE)).catch(() => undefined);
  for (const name of entries) if (name !== MARKER) await rm(join(folder, name), { recursive: true });
  return outside === undefined ? [] : [`The database of before stays in ${outside}: it lies outside.`];
}

/** A copied or moved folder, and a link to a folder, do not count. */
async function assertOwnFolder(folder: string): Promise<void> {
  const marker = await readMarker(folder);
  const found = await lstat(folder);
  if (found.isDirectory() && marker && marker.created_folder === (await realpath(folder))) return;
  throw usageError(
    `--fresh empties only a folder that mediary dev created, and ${folder} is not one.`,
    'Remove it yourself, or use another folder: DATA_DIR=<folder> mediary dev',
  );
}

/** The first line of PostgreSQL's file is the process id. */
async function assertUnused(folder: string): Promise<void> {
  const text = await readFile(join(folder, DATABASE, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !isAlive(pid)) return;
  throw new CliError(`The database in ${folder} runs, as process ${pid}.`, EXIT.failed, 'Stop it first.');
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function readMarker(folder: string): Promise<Marker | undefined> {
  const file = join(folder, MARKER);
  const text = await readPrivateFile(file);
  if (text === undefined) return undefined;
  try {
    const marker: Marker = JSON.parse(text);
    if (isForwardSecret(marker.webhook_secret)) return marker;
  } catch {
    // Not JSON: the same answer.
  }
  throw usageError(`${file} is damaged.`, 'Remove it; mediary dev writes a new one.');
}
