// Copies the database of DATA_DIR and its generated secrets to a backup, and back.
import { createReadStream } from 'node:fs';
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type CopiedFile, copyCluster } from '@mediary/embedded-postgres/base-backup';
import { writeHashed } from '@mediary/embedded-postgres/hashed-file';
import type { EmbeddedPostgres } from '@mediary/embedded-postgres/launcher';
import { freeBytes } from '../../platform/disk/free-space.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import type { BackupTarget } from '../../storage/backup-target.ts';
import {
  type BackupWriter,
  databasePath,
  inParallel,
  isUnchanged,
  readVerified,
  sendFile,
} from './backup-files.ts';
import type { SnapshotFiles } from './backup-snapshot.ts';

const SECRETS = 'secrets.json';
const CLUSTER = 'postgres';

export type DatabaseSource = {
  readonly dataDir: string;
  /** The copy of the database leaves so many bytes of its disk free. */
  readonly minFreeBytes: number;
  readonly server: Pick<EmbeddedPostgres, 'connection' | 'dataFolder'>;
};

type DatabaseFiles = Omit<SnapshotFiles, 'objects'>;

/**
 * Copies within DATA_DIR first: a slow target would hold a connection, and the log of the server, as long as
 * it takes.
 */
export async function copyDatabase(source: DatabaseSource, writer: BackupWriter): Promise<DatabaseFiles> {
  const root = join(source.dataDir, 'scratch');
  await mkdir(root, { recursive: true, mode: 0o700 });
  await assertSpace(source, root);
  const name = { work: `backup-${randomUUID()}`, run: 'database' };
  return inScratchFolder(root, name, async (folder) => {
    const { files: database, endsAt } = await copyCluster(source.server, join(folder, CLUSTER));
    const secrets = await copySecrets(source.dataDir, folder);
    const local = [
      ...database.map((file) => ({ ...file, local: join(folder, CLUSTER, file.path) })),
      ...(secrets ? [{ ...secrets, local: join(folder, SECRETS) }] : []),
    ];
    await sendFiles(writer, local);
    return { folders: await listFolders(join(folder, CLUSTER)), database, endsAt, secrets };
  });
}

async function assertSpace({ server, minFreeBytes }: DatabaseSource, root: string): Promise<void> {
  const [needed, free] = [await sizeOf(server.dataFolder), await freeBytes(root)];
  if (free - needed >= minFreeBytes) return;
  throw new Error(
    `A backup first copies the database to ${root}, which takes ${needed} bytes beside the ${minFreeBytes} ` +
      `of MIN_FREE_BYTES. Only ${free} bytes are free`,
  );
}

async function sizeOf(folder: string): Promise<number> {
  let total = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile())
      total += await stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      );
  return total;
}

/** Undefined without generated secrets: all come from settings. */
async function copySecrets(dataDir: string, folder: string): Promise<CopiedFile | undefined> {
  const source = join(dataDir, SECRETS);
  if (!(await stat(source).catch(unlessMissing))) return undefined;
  return { path: SECRETS, ...(await writeHashed(join(folder, SECRETS), createReadStream(source))) };
}

function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function listFolders(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1));
}

type LocalFile = CopiedFile & { readonly local: string };

async function sendFiles(writer: BackupWriter, files: readonly LocalFile[]): Promise<void> {
  const byPath = new Map(files.map((file) => [databasePath(file), file]));
  await inParallel(byPath, async ([path, { local, sizeBytes }]) => {
    writer.signal.throwIfAborted();
    const { tag } = writer.known.get(path) ?? {};
    if (isUnchanged(writer.stored.get(path), { sizeBytes, tag })) return;
    await sendFile(writer, { path, sizeBytes }, createReadStream(local));
  });
}

/** Writes the files of a snapshot into an empty folder. Throws for one with other bytes. */
export async function writeCluster(
  target: BackupTarget,
  { folders, database }: DatabaseFiles,
  cluster: string,
): Promise<void> {
  for (const folder of folders) await mkdir(join(cluster, folder), { recursive: true, mode: 0o700 });
  await inParallel(database, async (file) => {
    const path = join(cluster, file.path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, readStored(target, file), { flag: 'wx', mode: 0o600 });
  });
}

export async function writeSecrets(
  target: BackupTarget,
  { secrets }: DatabaseFiles,
  dataDir: string,
): Promise<void> {
  if (!secrets) return;
  await writeFile(join(dataDir, SECRETS), await buffer(readStored(target, secrets)), { mode: 0o600 });
}

const readStored = (target: BackupTarget, file: CopiedFile): AsyncGenerator<Uint8Array> =>
  readVerified(target, { path: databasePath(file), sha256: file.sha256 });
