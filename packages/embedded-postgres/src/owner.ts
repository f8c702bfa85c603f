// Chooses the user that runs PostgreSQL, which refuses root and users without an entry in /etc/passwd.
import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';

/** Owner of the cluster, its socket and its processes. */
export type Owner = { readonly uid: number; readonly gid: number };

/**
 * An ordinary user runs it as itself. Root uses the owner of an existing cluster, else `postgres`, else
 * `nobody`.
 */
export async function resolveOwner(cluster: string): Promise<Owner> {
  const self = getCurrentAccount();
  if (self.uid !== 0) return self;
  const owner = findFolderOwner(cluster) ?? (await findAccount('postgres')) ?? (await findAccount('nobody'));
  if (!owner)
    throw new Error(
      'PostgreSQL refuses to run as root, and no user "postgres" or "nobody" exists. Set ' +
        'DATABASE_URL to a PostgreSQL server.',
    );
  return owner;
}

function getCurrentAccount(): Owner {
  try {
    const { uid, gid } = userInfo();
    return { uid, gid };
  } catch (cause) {
    throw new Error(
      'The embedded PostgreSQL requires that the current user has an entry in /etc/passwd. Add ' +
        'one, or set DATABASE_URL to a PostgreSQL server.',
      { cause },
    );
  }
}

function findFolderOwner(cluster: string): Owner | undefined {
  const folder = lstatSync(cluster, { throwIfNoEntry: false });
  return folder && folder.uid !== 0 ? { uid: folder.uid, gid: folder.gid } : undefined;
}

async function findAccount(name: string): Promise<Owner | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
