// Holds the choice of folders to: in the data folder where possible, outside for good where not, and always a short, closed socket folder.
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { placeFor } from './postgres-place.ts';

const AS_ROOT = process.getuid?.() === 0;
const made: string[] = [];
afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mediary-test-')));
  chmodSync(folder, mode);
  made.push(folder);
  return folder;
}

describe('the place of a cluster', () => {
  test('is the data folder, which is made if missing, and its socket lies in it', async () => {
    const folder = join(newFolder(), 'data');
    const { cluster, socketFolder } = await placeFor(folder);
    expect({ cluster, socketFolder }).toEqual({
      cluster: join(folder, 'postgres'),
      socketFolder: join(folder, 'postgres'),
    });
    expect(existsSync(folder)).toBe(true);
  });

  test('under a long path has its socket in a short folder, closed to others and the same each time', async () => {
    const folder = join(newFolder(), 'a'.repeat(120));
    const { socketFolder, owner } = await placeFor(folder);
    made.push(socketFolder);
    expect(socketFolder.length).toBeLessThan(60);
    expect(statSync(socketFolder)).toMatchObject({ uid: owner.uid });
    expect(statSync(socketFolder).mode & 0o777).toBe(0o700);
    expect((await placeFor(folder)).socketFolder).toBe(socketFolder);

    chmodSync(socketFolder, 0o777);
    await expect(placeFor(folder)).rejects.toThrow('remove it');
  });
});

describe.runIf(AS_ROOT)('for root, the place of a cluster', () => {
  test("is outside a folder that PostgreSQL's user cannot enter, and stays there when the folder opens", async () => {
    const folder = newFolder(0o700);
    const { cluster } = await placeFor(folder);
    made.push(dirname(cluster));
    expect(cluster.startsWith('/var/lib/mediary/')).toBe(true);
    expect(readlinkSync(join(folder, 'postgres'))).toBe(cluster);
    chmodSync(folder, 0o755);
    expect((await placeFor(folder)).cluster).toBe(cluster);
  });

  test('is one, even if two services choose it at the same time', async () => {
    const folder = newFolder(0o700);
    const before = existsSync('/var/lib/mediary') ? readdirSync('/var/lib/mediary').length : 0;
    const [one, other] = await Promise.all([placeFor(folder), placeFor(folder)]);
    made.push(dirname(one.cluster), dirname(other.cluster));
    expect(one.cluster).toBe(other.cluster);
    expect(readdirSync('/var/lib/mediary').length).toBe(before + 1);
  });

  test('belongs to whom it belongs already', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'postgres'));
    chownSync(join(folder, 'postgres'), 4321, 1234);
    expect((await placeFor(folder)).owner).toEqual({ uid: 4321, gid: 1234 });
  });
});
