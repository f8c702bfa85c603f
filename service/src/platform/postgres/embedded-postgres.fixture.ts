// What the tests of the embedded server share: folders, servers in this process and in others, and a look into them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, onTestFinished } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres, type Watch } from './embedded-postgres.ts';

const MODULE = join(import.meta.dirname, 'embedded-postgres.ts');
export const ON_LINUX = process.platform === 'linux';
export const AS_ROOT = process.getuid?.() === 0;
export const NOBODY = { uid: 65534, gid: 65534 };

export const folders: string[] = [];
afterAll(() =>
  folders.forEach((folder) => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }),
);

/** Open to others, unless told otherwise: else root's server would go outside. */
export function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mediary-test-')));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

export async function start(folder: string, watch: Watch = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(folder, watch);
  onTestFinished(server.stop);
  return server;
}

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

/** Another process that starts the server as the service does, says so on one line, and holds it. */
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
  const failed = text(child.stderr).then((words) => Promise.reject(new Error(words)));
  const [line] = await Promise.race([once(child.stdout, 'data'), failed]);
  return { ...JSON.parse(line), killService };
}
