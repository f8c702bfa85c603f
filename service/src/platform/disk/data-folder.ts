// Prepares the folders of the service at start: they must be writable, and closed to other users.
import { access, chmod, chown, constants, mkdir, readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

const OWNER_ONLY = 0o700;
/** The group of PostgreSQL's user may traverse the folder to its cluster. */
const GROUP_TRAVERSE = 0o710;
/** Other users may traverse the folder, but not list or write it. */
const ALL_TRAVERSE = 0o711;
const STICKY = 0o1000;

type Restriction = 'unchanged' | 'restricted' | 'refused';

/** Removes every permission that `mode` does not have. */
export async function restrict(path: string, mode: number): Promise<Restriction> {
  const current = (await stat(path)).mode & 0o7777;
  if ((current & ~mode) === 0) return 'unchanged';
  return chmod(path, current & mode).then(() => 'restricted' as const, refusedOrThrow);
}

/** Entries that the service itself creates in its data folder. */
const OWN_ENTRIES = /^(?:postgres|objects|incoming|scratch|secrets\.json|service\.|lost\+found$|\.)/;

/**
 * Restricts the data folder and the folder of a cluster elsewhere; returns warnings for the operator. Without
 * an own cluster the folder stays traversable, because the user of another server may have files in it.
 */
export async function restrictDataFolder(folder: string, cluster: string | undefined): Promise<string[]> {
  const info = await stat(folder).catch(() => undefined);
  if (!info) return [];
  if (info.mode & STICKY || !(await readdir(folder)).every((name) => OWN_ENTRIES.test(name)))
    return (info.mode & 0o066) === 0 ? [] : [sharedFolder(folder)];
  if (cluster === undefined) return warnIfRefused(folder, await restrict(folder, ALL_TRAVERSE));
  const home = dirname(await realpath(cluster));
  const isInside = relative(await realpath(folder), home) === '';
  return [
    ...(await restrictHome(home, cluster)),
    ...(isInside ? [] : warnIfRefused(folder, await restrict(folder, OWNER_ONLY))),
  ];
}

/** When another user owns the cluster, only its group may traverse the folder. */
async function restrictHome(home: string, cluster: string): Promise<string[]> {
  const { uid, gid } = await stat(cluster);
  const { uid: homeUid } = await stat(home);
  if (uid === homeUid) return warnIfRefused(home, await restrict(home, OWNER_ONLY));
  const restriction = await chown(home, homeUid, gid)
    .then(() => chmod(home, GROUP_TRAVERSE))
    .then(() => 'restricted' as const, refusedOrThrow);
  return warnIfRefused(home, restriction);
}

/**
 * Restricts the service's own folders inside a shared parent. Missing ones are created with the right mode
 * later.
 */
export async function restrictFolders(parent: string, names: readonly string[]): Promise<void> {
  for (const name of names)
    await restrict(join(parent, name), OWNER_ONLY).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
}

/** Only the owner and root may change a mode. */
function refusedOrThrow(error: NodeJS.ErrnoException): 'refused' {
  if (error.code === 'EPERM' || error.code === 'EROFS' || error.code === 'ENOTSUP') return 'refused';
  throw error;
}

const warnIfRefused = (path: string, restriction: Restriction): string[] =>
  restriction === 'refused'
    ? [
        `${path} belongs to another user, so its permissions cannot be restricted. ` +
          'Change its owner or its mode.',
      ]
    : [];

const sharedFolder = (folder: string): string =>
  `DATA_DIR ${folder} is open to other users and contains files of other programs, ` +
  'so its permissions are not changed. Set DATA_DIR to a folder of its own.';

/** Creates a missing folder. Throws an error that names the setting. */
export async function assertWritableFolder(setting: string, folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(
      `${setting}: the folder ${folder} cannot be written (${code}). ` +
        'Give the user of the service write access, or name another folder.',
    );
  }
}
