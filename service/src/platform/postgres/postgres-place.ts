// Decides where the cluster and its socket lie: in the data folder, unless PostgreSQL's user cannot get there.
import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Owner, ownerOf } from './postgres-owner.ts';
import { runProgram } from './postgres-program.ts';

export type Place = { readonly cluster: string; readonly socketFolder: string; readonly owner: Owner };

/** The one folder for clusters whose data folder is closed; never a temporary one. */
const OUTSIDE = '/var/lib/mediary';
/** The kernel's limit is 104 or 108. */
const MAX_SOCKET_BYTES = 100;
export const PORT = 5432;

/** Once chosen, a place outside stays: a link in the data folder leads to it. */
export async function placeFor(dataFolder: string): Promise<Place> {
  await mkdir(dataFolder, { recursive: true });
  const inside = join(await realpath(dataFolder), 'postgres');
  const present = await presentCluster(inside);
  const owner = await ownerOf(present ?? inside);
  const cluster = present ?? ((await canEnter(owner, dirname(inside))) ? inside : await placeOutside(inside));
  await mkdir(dirname(cluster), { recursive: true });
  return { cluster, owner, socketFolder: await socketFolderOf(cluster, owner) };
}

async function presentCluster(path: string): Promise<string | undefined> {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isSymbolicLink()) return readlink(path);
  return entry && path;
}

/** Asks the kernel, as that user, since modes alone do not tell. */
function canEnter(owner: Owner, folder: string): Promise<boolean> {
  if (owner.uid === process.getuid?.()) return Promise.resolve(true);
  return runProgram(owner, '/bin/sh', ['-c', 'cd "$0"', folder]).then(
    () => true,
    () => false,
  );
}

/** Named after the data folder, so that people know whose it is. */
async function placeOutside(inside: string): Promise<string> {
  if (await mkdir(OUTSIDE, { recursive: true })) await chmod(OUTSIDE, 0o755);
  const name = dirname(inside).slice(1).replaceAll('/', '-').slice(-30);
  const home = await mkdtemp(join(OUTSIDE, `${name}-`));
  await chmod(home, 0o755);
  return pointTo(join(home, 'postgres'), inside);
}

/** Of two that start at once one makes the link, and both follow it. */
async function pointTo(cluster: string, link: string): Promise<string> {
  try {
    await symlink(cluster, link);
    return cluster;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    await rm(dirname(cluster), { recursive: true });
    return readlink(link);
  }
}

/** The cluster's folder, which is closed to others and hence guards the socket; where its path is too long, a short one as closed. */
async function socketFolderOf(cluster: string, owner: Owner): Promise<string> {
  if (Buffer.byteLength(join(cluster, `.s.PGSQL.${PORT}`)) <= MAX_SOCKET_BYTES) return cluster;
  const folder = join('/tmp', `mediary-${createHash('sha256').update(cluster).digest('hex').slice(0, 16)}`);
  if (!lstatSync(folder, { throwIfNoEntry: false })) {
    await mkdir(folder, { mode: 0o700 });
    await chown(folder, owner.uid, owner.gid);
  }
  const { uid, mode } = lstatSync(folder);
  if (uid !== owner.uid || (mode & 0o170077) !== 0o040000)
    throw new Error(`${folder} is open to others: remove it`);
  return folder;
}
