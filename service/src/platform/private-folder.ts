// Closes what the service keeps on this machine to the machine's other users; existing files and folders are corrected.
import { chmod, chown, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/** In these modes only the owner gets in; PostgreSQL's own user may go through to its cluster. */
const CLOSED = 0o700;
const TRAVERSED = 0o710;
/** Of a folder that others may have to go through: nothing is listed or written. */
const KEEP_TRAVERSE = 0o711;
const STICKY = 0o1000;

type Restriction = 'unchanged' | 'restricted' | 'refused';

/** Takes away every right that `mode` does not have. */
export async function restrict(path: string, mode: number): Promise<Restriction> {
  const present = (await stat(path)).mode & 0o7777;
  if ((present & ~mode) === 0) return 'unchanged';
  return chmod(path, present & mode).then(() => 'restricted' as const, unlessForeign);
}

/** What the service itself puts into its data folder. */
const OWN_ENTRIES = /^(?:postgres|objects|incoming|scratch|secrets\.json|service\.|lost\+found$|\.)/;

/**
 * Closes the data folder, and the folder of a cluster that lies elsewhere. Without a cluster of its own the folder stays traversable
 * where it was: another server's user may have its files in it. Answers warnings for the operator.
 */
export async function closeDataFolder(folder: string, cluster: string | undefined): Promise<string[]> {
  const info = await stat(folder).catch(() => undefined);
  if (!info) return [];
  if (info.mode & STICKY || !(await readdir(folder)).every((name) => OWN_ENTRIES.test(name)))
    return (info.mode & 0o066) === 0 ? [] : [sharedFolder(folder)];
  if (cluster === undefined) return warnUnless(folder, await restrict(folder, KEEP_TRAVERSE));
  const home = dirname(await realpath(cluster));
  const isInside = relative(await realpath(folder), home) === '';
  return [
    ...(await closeHome(home, cluster)),
    ...(isInside ? [] : warnUnless(folder, await restrict(folder, CLOSED))),
  ];
}

/** Where the cluster's owner is somebody else, its group gets through, and nobody else. */
async function closeHome(home: string, cluster: string): Promise<string[]> {
  const { uid, gid } = await stat(cluster);
  const { uid: homeUid } = await stat(home);
  if (uid === homeUid) return warnUnless(home, await restrict(home, CLOSED));
  const closed = await chown(home, homeUid, gid)
    .then(() => chmod(home, TRAVERSED))
    .then(() => 'restricted' as const, unlessForeign);
  return warnUnless(home, closed);
}

/** Below a folder that others share: only these are the service's own. Missing ones are made closed when they are needed. */
export async function closeFolders(parent: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await restrict(join(parent, name), CLOSED).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
}

/** The owner alone, and root, may change a mode. */
function unlessForeign(error: NodeJS.ErrnoException): 'refused' {
  if (error.code === 'EPERM' || error.code === 'EROFS' || error.code === 'ENOTSUP') return 'refused';
  throw error;
}

const warnUnless = (path: string, restriction: Restriction): string[] =>
  restriction === 'refused' ? [`${path} belongs to another user and cannot be closed to others`] : [];

const sharedFolder = (folder: string): string =>
  `DATA_DIR ${folder} is open to other users and holds files of others, so that it stays open. Set DATA_DIR to a folder of its own.`;
