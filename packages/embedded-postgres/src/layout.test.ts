// The cluster is in the data folder where possible, else permanently outside; the socket folder is always
// short and private.
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
import { resolveLayout } from './layout.ts';

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

describe('the layout', () => {
  test('puts cluster and socket into the data folder, which is created if missing', async () => {
    const folder = join(newFolder(), 'data');
    const { cluster, socketFolder } = await resolveLayout(folder);
    expect({ cluster, socketFolder }).toEqual({
      cluster: join(folder, 'postgres'),
      socketFolder: join(folder, 'postgres'),
    });
    expect(existsSync(folder)).toBe(true);
  });

  test('puts the socket of a long path into a short private folder, the same each time', async () => {
    const folder = join(newFolder(), 'a'.repeat(120));
    const { socketFolder, owner } = await resolveLayout(folder);
    made.push(socketFolder);
    expect(socketFolder.length).toBeLessThan(60);
    expect(statSync(socketFolder)).toMatchObject({ uid: owner.uid });
    expect(statSync(socketFolder).mode & 0o777).toBe(0o700);
    expect((await resolveLayout(folder)).socketFolder).toBe(socketFolder);

    chmodSync(socketFolder, 0o777);
    await expect(resolveLayout(folder)).rejects.toThrow('remove it');
  });
});

describe.runIf(AS_ROOT)('as root, the cluster', () => {
  test("is outside a folder that the server's user cannot enter, and stays there afterwards", async () => {
    const folder = newFolder(0o700);
    const { cluster } = await resolveLayout(folder);
    made.push(dirname(cluster));
    expect(cluster.startsWith('/var/lib/mediary/')).toBe(true);
    expect(readlinkSync(join(folder, 'postgres'))).toBe(cluster);
    chmodSync(folder, 0o755);
    expect((await resolveLayout(folder)).cluster).toBe(cluster);
  });

  test('is the same for two services that start at the same time', async () => {
    const folder = newFolder(0o700);
    const before = existsSync('/var/lib/mediary') ? readdirSync('/var/lib/mediary').length : 0;
    const [one, other] = await Promise.all([resolveLayout(folder), resolveLayout(folder)]);
    made.push(dirname(one.cluster), dirname(other.cluster));
    expect(one.cluster).toBe(other.cluster);
    expect(readdirSync('/var/lib/mediary').length).toBe(before + 1);
  });

  test('keeps its owner', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'postgres'));
    chownSync(join(folder, 'postgres'), 4321, 1234);
    expect((await resolveLayout(folder)).owner).toEqual({ uid: 4321, gid: 1234 });
  });
});
