// Shared by the launcher tests: temporary folders, servers in this process and in child processes, queries.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres, type LauncherOptions } from './launcher.ts';

const MODULE = join(import.meta.dirname, 'launcher.ts');
export const ON_LINUX = process.platform === 'linux';
export const AS_ROOT = process.getuid?.() === 0;
export const NOBODY = { uid: 65534, gid: 65534 };

export const folders: string[] = [];
afterAll(() =>
  folders.forEach((folder) => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }),
);

/** World-readable by default; otherwise root's cluster would move to /var/lib. */
export function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mediary-test-')));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

export async function start(folder: string, options: LauncherOptions = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(folder, options);
  onTestFinished(server.stop);
  return server;
}

/** Fills a cluster with the files of a folder. */
export const filesOf = (folder: string) => async (cluster: string) =>
  cpSync(folder, cluster, { recursive: true });

type Reachable = Omit<EmbeddedPostgres, 'stop'>;

export async function query(
  server: Reachable,
  sql: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connection);
  await client.connect();
  return client
    .query(sql, values)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

export const note = (server: Reachable, words: string) =>
  query(server, 'insert into note values ($1)', [words]);
export const notes = async (server: Reachable) =>
  (await query(server, 'select text from note')).map((row) => row['text']);
export const postmasterOf = (server: Reachable) =>
  Number.parseInt(readFileSync(join(server.dataFolder, 'postmaster.pid'), 'utf8'), 10);

/**
 * Starts the server in a child process, which prints the connection as one line of JSON and keeps running.
 */
export async function startElsewhere(
  folder: string,
  user: Partial<typeof NOBODY> = {},
): Promise<Reachable & { killService(): Promise<unknown> }> {
  const script = `const { startEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});
    console.log(JSON.stringify(await startEmbeddedPostgres(${JSON.stringify(folder)})));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    ...user,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const killService = () => Promise.all([once(child, 'exit'), child.kill('SIGKILL')]);
  const failed = text(child.stderr).then((stderr) => Promise.reject(new Error(stderr)));
  const [line] = await Promise.race([once(child.stdout, 'data'), failed]);
  return { ...JSON.parse(line), killService };
}
