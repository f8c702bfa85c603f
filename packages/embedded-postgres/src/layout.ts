// Chooses the folders of the cluster and its socket: the data folder, unless the server's user cannot enter
// it.
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Owner, resolveOwner } from './owner.ts';
import { runProgram } from './program.ts';

export type ClusterLayout = {
  readonly cluster: string;
  readonly socketFolder: string;
  readonly owner: Owner;
};

/**
 * For clusters whose data folder the server's user cannot enter. Not a temporary folder: it holds the data.
 */
const OUTSIDE_ROOT = '/var/lib/mediary';
/** The kernel's limit is 104 (macOS) or 108 (Linux). */
const MAX_SOCKET_BYTES = 100;
export const PORT = 5432;

/** A cluster outside the data folder stays there: a symbolic link in the data folder points to it. */
export async function resolveLayout(dataFolder: string): Promise<ClusterLayout> {
  await mkdir(dataFolder, { recursive: true });
  const inside = join(await realpath(dataFolder), 'postgres');
  const existing = await findCluster(inside);
  const owner = await resolveOwner(existing ?? inside);
  const cluster =
    existing ?? ((await canEnter(owner, dirname(inside))) ? inside : await createOutsideHome(inside));
  await mkdir(dirname(cluster), { recursive: true });
  return layoutAt(cluster, owner);
}

export const layoutAt = async (cluster: string, owner: Owner): Promise<ClusterLayout> => ({
  cluster,
  owner,
  socketFolder: await prepareSocketFolder(cluster, owner),
});

async function findCluster(path: string): Promise<string | undefined> {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) return readlink(path);
  return entry && path;
}

/** Tries it as that user: file modes alone do not show ACLs and parent folders. */
function canEnter(owner: Owner, folder: string): Promise<boolean> {
  if (owner.uid === process.getuid?.()) return Promise.resolve(true);
  return runProgram(owner, '/bin/sh', ['-c', 'cd "$0"', folder]).then(
    () => true,
    () => false,
  );
}

/** The name contains the data folder's path, so that people can find its owner. */
async function createOutsideHome(inside: string): Promise<string> {
  if (await mkdir(OUTSIDE_ROOT, { recursive: true })) await chmod(OUTSIDE_ROOT, 0o755);
  const name = dirname(inside).slice(1).replaceAll('/', '-').slice(-30);
  const home = await mkdtemp(join(OUTSIDE_ROOT, `${name}-`));
  await chmod(home, 0o755);
  return linkTo(join(home, 'postgres'), inside);
}

/** If two processes start at once, one creates the link and both use it. */
async function linkTo(cluster: string, link: string): Promise<string> {
  try {
    await symlink(cluster, link);
    return cluster;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    await rm(dirname(cluster), { recursive: true });
    return readlink(link);
  }
}

/**
 * The cluster's own folder, which only its owner can enter; a short private folder in /tmp where that path is
 * too long for a socket.
 */
async function prepareSocketFolder(cluster: string, owner: Owner): Promise<string> {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_BYTES) return cluster;
  const folder = join('/tmp', `mediary-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`);
  if (!lstatSync(folder, { throwIfNoEntry: false })) {
    await mkdir(folder, { mode: 0o700 });
    await chown(folder, owner.uid, owner.gid);
  }
  const { uid, mode } = lstatSync(folder);
  if (uid !== owner.uid || (mode & 0o170077) !== 0o040000)
    throw new Error(`${folder} is accessible to other users. Check its content and remove it`);
  return folder;
}
