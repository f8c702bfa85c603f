// After a restore of the database or of the store alone, an operator finds and settles what differs.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AssetJson, IMAGE, offer, readAsset, settled } from '../../support/media.ts';
import { asUser, call, eventually, SECRETS } from '../../support/service.ts';
import { newDatabaseDir } from '../../support/service/data-folders.ts';
import { runCli } from '../../support/service/cli.ts';
import { endAllIn, type ServiceProcess, startProcess } from '../../support/service/service-process.ts';
import { filesNaming } from '../../support/service/traces.ts';

const START = resolve(import.meta.dirname, '../../../service/start.js');
const SETTINGS = { STORAGE_URL: undefined, PURGE_GRACE_DAYS: '0' };

let [dataDir, older, backup]: string[] = [];
let service: ServiceProcess;
const start = async (folder: string) => {
  service = await startProcess({ DATA_DIR: folder, ...SETTINGS });
};
beforeAll(async () => {
  dataDir = await newDatabaseDir();
  older = await mkdtemp(join(tmpdir(), 'mediary-older-'));
  backup = await mkdtemp(join(tmpdir(), 'mediary-backup-'));
  await start(dataDir);
});
afterAll(async () => {
  await service.end('SIGKILL');
  for (const folder of [dataDir, older, backup]) {
    await endAllIn(folder as string);
    await rm(folder as string, { recursive: true, force: true, maxRetries: 5 });
  }
});

type CommandRun = { readonly code: number; readonly stdout: string; readonly stderr: string };

const run = (folder: string, ...args: string[]): Promise<CommandRun> =>
  new Promise((done) => {
    const { PATH, HOME } = process.env;
    const env = { PATH, HOME, DATA_DIR: folder, PURGE_GRACE_DAYS: '0' };
    execFile(process.execPath, [START, ...args], { env }, (error, stdout, stderr) => {
      done({ code: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

async function picture(background: string): Promise<string> {
  const bytes = await sharp({ create: { width: 64, height: 48, channels: 3, background } })
    .png()
    .toBuffer();
  const { id } = await offer(service, 'ann', { bytes, fields: IMAGE });
  expect((await settled(service, 'ann', id)).stream_status).toBe('ready');
  return id;
}

type Report = { readonly findings: readonly Record<'asset_id' | 'kind' | 'repaired_at', string | null>[] };

/** The kinds of findings by asset. */
function kindsOf({ stdout }: Pick<CommandRun, 'stdout'>): Record<string, unknown> {
  const { findings } = JSON.parse(stdout) as Report;
  const byAsset = Map.groupBy(findings, ({ asset_id: id }) => id ?? '');
  const kinds = [...byAsset].map(([id, found]) => [id, found.map(({ kind }) => kind).sort()]);
  return Object.fromEntries(kinds);
}

let [kept, deleted, added]: string[] = [];

test('before the backup two pictures exist; after it one is deleted and another added', async () => {
  [kept, deleted] = [await picture('red'), await picture('green')];
  const created = await run(dataDir as string, 'backup', 'create', '--to', backup as string);
  expect(created.code, created.stderr).toBe(0);
  expect((await call(service, `DELETE /media/${deleted}`, { headers: asUser('ann') })).status).toBe(200);
  await eventually(
    () => filesNaming(join(dataDir as string, 'objects'), deleted),
    (files) => files.length === 0,
  );
  added = await picture('blue');
  // Beside the running service.
  const clean = await run(dataDir as string, 'fsck');
  expect(clean.stdout, clean.stderr).toMatch(/objects, 2 assets and 0 videos compared/);
  await service.end('SIGTERM');
});

test('after a restore of the database alone, the command lists and settles what differs', async () => {
  const folder = older as string;
  const restored = await run(folder, 'backup', 'restore', '--from', backup as string);
  expect(restored.code, restored.stderr).toBe(0);
  await cp(join(folder, 'objects'), join(folder, 'objects-then'), { recursive: true });
  await rm(join(folder, 'objects'), { recursive: true });
  await cp(join(dataDir as string, 'objects'), join(folder, 'objects'), { recursive: true });

  const differences = {
    [deleted as string]: ['original_missing', 'thumbnail_missing'],
    [added as string]: ['unknown_object', 'unknown_object'],
  };
  const listed = await run(folder, 'fsck', '--json');
  expect([kindsOf(listed), listed.code]).toEqual([differences, 1]);
  const repaired = await run(folder, 'fsck', '--repair', '--json');
  expect(kindsOf(repaired)).toEqual(differences);
  expect(await filesNaming(join(folder, 'objects'), added), 'the only copies stay').toHaveLength(2);
  expect(await run(folder, 'fsck', '--delete-unknown')).toMatchObject({ code: 1 });
  expect((await run(folder, 'fsck', '--repair', '--delete-unknown')).code).toBe(0);
  expect(await run(folder, 'fsck', '--json')).toMatchObject({ code: 0 });
  await start(folder);
  expect(await readAsset(service, 'ann', deleted as string)).toMatchObject({
    stream_status: 'failed',
    failure: { code: 'original_missing' },
  });
  expect(await readAsset(service, 'ann', kept as string)).toMatchObject({
    stream_status: 'ready',
    warnings: [],
  });
  await service.end('SIGTERM');
});

test('after a restore of the store alone, the client command does the same', async () => {
  const folder = dataDir as string;
  await rm(join(folder, 'objects'), { recursive: true });
  await cp(join(older as string, 'objects-then'), join(folder, 'objects'), { recursive: true });
  await start(folder);
  const env = { MEDIARY_URL: service.url.replace('/api/v1', ''), MEDIARY_OPERATOR_KEY: SECRETS.OPERATOR_KEY };
  const fsck = (...args: string[]) => runCli(['fsck', ...args], { folder, env });
  const differences = {
    [deleted as string]: ['orphaned_object', 'orphaned_object'],
    [added as string]: ['original_missing', 'thumbnail_missing'],
  };
  const listed = await fsck('--json');
  expect([kindsOf(listed), listed.code]).toEqual([differences, 1]);
  const repaired = await fsck('--repair');
  expect(repaired.stdout).toContain(`orphaned_object        ${deleted}`);
  expect(repaired.stdout).toContain('(repaired: delete_object)');
  expect(kindsOf(await fsck('--json'))).toEqual({});
  const lost: AssetJson = await readAsset(service, 'ann', added as string);
  expect(lost).toMatchObject({ stream_status: 'failed', failure: { code: 'original_missing' } });
  expect(await filesNaming(join(folder, 'objects'), deleted)).toEqual([]);
});
