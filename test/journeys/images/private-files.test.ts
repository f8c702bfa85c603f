// Files of the service are closed to other users of the machine, also if an earlier start left them open
// (contract B9).
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { OWN_SECRETS } from '../../../service/src/auth/settings.ts';
import { openLocalSecrets } from '../../../service/src/platform/settings/generated-secrets.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { ingest } from '../../support/media.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';
import { startProcess, endAllIn } from '../../support/service/service-process.ts';

const made: string[] = [];
async function newFolder(): Promise<string> {
  const folder = await newDataDir();
  made.push(folder);
  return folder;
}
afterAll(() =>
  Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true, maxRetries: 5 }))),
);

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('after a start in a world-readable folder, and a video', () => {
  let service: TestService;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await newFolder();
    for (const name of ['objects', 'scratch']) await mkdir(join(dataDir, name), { mode: 0o755 });
    for (const name of ['service.lock', 'service.pid'])
      await writeFile(join(dataDir, name), '', { mode: 0o666 });
    service = await startTestService({ DATA_DIR: dataDir });
    await ingest(service, 'ann', { file: await makeClip({ seconds: 1 }) });
  });
  afterAll(() => service?.stop());

  test('other users can neither list nor read the data folder', async () => {
    expect((await modeOf(dataDir)) & 0o067).toBe(0);
  });

  test('only the group of the database server can enter its cluster, if it is another user', async () => {
    const [folder, cluster] = [await stat(dataDir), await stat(join(dataDir, 'postgres'))];
    expect(await modeOf(join(dataDir, 'postgres'))).toBe(0o700);
    expect(folder.mode & 0o777).toBe(folder.uid === cluster.uid ? 0o700 : 0o710);
    if (folder.uid !== cluster.uid) expect(folder.gid).toBe(cluster.gid);
  });

  test('the lock file, the PID file and all other files belong to one user only', async () => {
    for (const name of ['service.lock', 'service.pid'])
      expect.soft(await modeOf(join(dataDir, name)), name).toBe(0o600);
    for (const name of ['objects', 'scratch'])
      expect.soft(await modeOf(join(dataDir, name)), name).toBe(0o700);
    const objects = await readdir(join(dataDir, 'objects'), { recursive: true });
    expect(objects.length).toBeGreaterThan(256);
    // Where the service is root, the sandbox's group may read the original that it decodes.
    const others = process.getuid?.() === 0 ? 0o037 : 0o077;
    for (const name of objects) expect((await modeOf(join(dataDir, 'objects', name))) & others, name).toBe(0);
  });
});

test('the permissions of a readable secrets file are fixed, with a warning that names it', async () => {
  const folder = await newFolder();
  const first = await openLocalSecrets(folder, OWN_SECRETS);
  expect(first.warnings).toEqual([]);
  await chmod(first.file, 0o644);
  const second = await openLocalSecrets(folder, OWN_SECRETS);
  expect(second.values).toEqual(first.values);
  expect(second.warnings).toEqual([expect.stringMatching(/secrets\.json was open to other users.*0600/)]);
  expect(await modeOf(first.file)).toBe(0o600);
  expect((await openLocalSecrets(folder, OWN_SECRETS)).warnings).toEqual([]);
});

test('the process logs it at its start, and can start again', async () => {
  const folder = await newFolder();
  const { file } = await openLocalSecrets(folder, OWN_SECRETS);
  await chmod(file, 0o640);
  try {
    for (const warnings of [1, 0]) {
      const service = await startProcess({ DATA_DIR: folder });
      await service.end('SIGTERM');
      const said = service
        .log()
        .split('\n')
        .filter((line) => line.includes('open to other users'));
      expect(said).toHaveLength(warnings);
    }
  } finally {
    await endAllIn(folder);
  }
});
