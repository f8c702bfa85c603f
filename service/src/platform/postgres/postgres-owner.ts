// Decides which user PostgreSQL runs as: it refuses root, and initdb refuses a user without a name.
import { lstatSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';

/** Whom the cluster, its socket and its processes belong to. */
export type Owner = { readonly uid: number; readonly gid: number };

/** An ordinary user runs it himself; root lends it to whoever owns the cluster already, else to `postgres`, else to `nobody`. */
export async function ownerOf(cluster: string): Promise<Owner> {
  const self = ownAccount();
  if (self.uid !== 0) return self;
  const owner = presentOwner(cluster) ?? (await accountNamed('postgres')) ?? (await accountNamed('nobody'));
  if (!owner)
    throw new Error(
      'PostgreSQL refuses to run as root, and there is no user "postgres" or "nobody". Set DATABASE_URL to a PostgreSQL server.',
    );
  return owner;
}

function ownAccount(): Owner {
  try {
    const { uid, gid } = userInfo();
    return { uid, gid };
  } catch (cause) {
    throw new Error(
      'The user that runs Mediary has no entry in /etc/passwd, which the embedded PostgreSQL demands. Set DATABASE_URL to a PostgreSQL server.',
      { cause },
    );
  }
}

function presentOwner(cluster: string): Owner | undefined {
  const folder = lstatSync(cluster, { throwIfNoEntry: false });
  return folder && folder.uid !== 0 ? { uid: folder.uid, gid: folder.gid } : undefined;
}

async function accountNamed(name: string): Promise<Owner | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n');
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : undefined;
}
