// Starts real servers, kills them in every way, and looks whether what was committed is still there.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { ownerOf } from './postgres-owner.ts';

const MODULE = join(import.meta.dirname, 'embedded-postgres.ts');
const ON_LINUX = process.platform === 'linux';
const AS_ROOT = process.getuid?.() === 0;
const NOBODY = { uid: 65534, gid: 65534 };

const folders: string[] = [];
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

function newFolder(mode = 0o755): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mediary-test-')));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

async function start(folder: string, watch = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres(folder, watch);
  undo.push(server.stop);
  return server;
}

type Reachable = Pick<EmbeddedPostgres, 'connection' | 'dataFolder'>;

async function query(server: Reachable, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(server.connection);
  await client.connect();
  return client.query(text, values).then(({ rows }) => rows).finally(() => client.end());
}

const note = (server: Reachable, text: string) => query(server, 'insert into note values ($1)', [text]);
const notes = async (server: Reachable) => (await query(server, 'select text from note')).map(({ text }) => text);
const postmasterOf = (server: Reachable) => Number.parseInt(readFileSync(join(server.dataFolder, 'postmaster.pid'), 'utf8'), 10);

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // that is the answer
  }
}

/** Another process that starts the server as the service does, says so on one line, and holds it. */
async function startElsewhere(folder: string, user: Partial<typeof NOBODY> = {}): Promise<Reachable & { child: ChildProcess }> {
  const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});
    console.log(JSON.stringify(await startEmbeddedPostgres(${JSON.stringify(folder)})));`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { ...user, stdio: ['ignore', 'pipe', 'pipe'] });
  undo.push(() => child.kill('SIGKILL'));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { errors += text; });
  const failed = once(child, 'close').then(() => Promise.reject(new Error(errors)));
  const [line] = await Promise.race([once(child.stdout.setEncoding('utf8'), 'data'), failed]);
  return { ...JSON.parse(line), child };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('a running server', () => {
  const folder = newFolder();
  let server: EmbeddedPostgres;

  beforeAll(async () => {
    mkdirSync(join(folder, 'postgres.init-killed/base'), { recursive: true });
    writeFileSync(join(folder, 'postgres.init-killed/PG_VERSION'), '18\n');
    vi.stubEnv('LANG', undefined).stubEnv('LC_ALL', undefined);
    server = await startEmbeddedPostgres(folder);
    vi.unstubAllEnvs();
  });
  afterAll(() => server.stop());

  test('speaks UTF-8 whatever the machine speaks, checks its pages and waits for the disk', async () => {
    const [row] = await query(server, `select datname as name, pg_encoding_to_char(encoding) as encoding, datlocprovider as provider, datlocale as locale,
      lower('ÄÖÜ') as lower, current_setting('data_checksums') as checksums, current_setting('fsync') as fsync from pg_database where datname = current_database()`);
    expect(row).toEqual({ name: 'mediary', encoding: 'UTF8', provider: 'b', locale: 'C.UTF-8', lower: 'äöü', checksums: 'on', fsync: 'on' });
  });

  test('listens on no TCP port, and on a socket that only its owner reaches', () => {
    const [, , , port, socketFolder, tcpAddress] = readFileSync(join(server.dataFolder, 'postmaster.pid'), 'utf8').split('\n');
    expect({ port, socketFolder, tcpAddress }).toEqual({ port: `${server.connection.port}`, socketFolder: server.connection.host, tcpAddress: '' });
    expect(statSync(server.connection.host).mode & 0o777).toBe(0o700);
    expect(statSync(join(server.connection.host, `.s.PGSQL.${port}`)).mode & 0o777).toBe(0o700);
  });

  test('is not disturbed by the half cluster of a start that was killed, and sweeps it', () => {
    expect(readdirSync(folder).sort()).toEqual(['postgres', 'service.lock', 'service.pid']);
  });

  test.runIf(ON_LINUX)('leads a session of its own, out of reach of Ctrl-C', () => {
    const pid = postmasterOf(server);
    const [, , , , group, session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ').map(Number);
    expect({ group, session }).toEqual({ group: pid, session: pid });
  });

  test.runIf(ON_LINUX && AS_ROOT)('runs as another user than root, and does not show that user the environment of the service', () => {
    const pid = postmasterOf(server);
    expect(statSync(`/proc/${pid}`).uid).toBe(statSync(server.dataFolder).uid);
    expect(statSync(`/proc/${pid}`).uid).not.toBe(0);
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('VITEST');
  });

  test('refuses a second service on its folder, in this process and in another', async () => {
    const refusal = `Another Mediary (process ${process.pid}) is using ${folder}`;
    await expect(startEmbeddedPostgres(folder)).rejects.toThrow(refusal);
    await expect(startElsewhere(folder)).rejects.toThrow(refusal);
    await expect(query(server, 'select 1 as one')).resolves.toEqual([{ one: 1 }]);
  });
});

describe('from one start to the next', () => {
  const folder = newFolder();

  beforeAll(async () => {
    const server = await startEmbeddedPostgres(folder);
    await query(server, 'create table note (text text)');
    await server.stop();
  });

  test('stop leaves the data and no process', async () => {
    const first = await start(folder);
    await note(first, 'before stop');
    const helpers = await query(first, 'select pid from pg_stat_activity where pid <> pg_backend_pid()');
    const all = [postmasterOf(first), ...helpers.map(({ pid }) => Number(pid))];
    expect(all.length).toBeGreaterThan(3);
    expect(all.every(lives)).toBe(true);

    await first.stop();
    expect(all.filter(lives)).toEqual([]);
    expect(await notes(await start(folder))).toContain('before stop');
  });

  test('the server of a killed service is ended, its data kept', async () => {
    const { child, ...orphan } = await startElsewhere(folder);
    await note(orphan, 'before the service died');
    const pid = postmasterOf(orphan);
    await kill(child);
    expect(lives(pid)).toBe(true);

    const next = await start(folder);
    expect(await notes(next)).toContain('before the service died');
    expect(postmasterOf(next)).not.toBe(pid);
    await vi.waitFor(() => expect(lives(pid)).toBe(false));
  });

  test('service and server killed together leave nothing in the way', async () => {
    const { child, ...killed } = await startElsewhere(folder);
    await note(killed, 'before both died');
    process.kill(postmasterOf(killed), 'SIGKILL');
    await kill(child);
    expect(await notes(await start(folder))).toContain('before both died');
  });

  test('a lock file whose number now belongs to another program is no obstacle, and that program lives on', async () => {
    const first = await start(folder);
    const lockFiles = ['postmaster.pid', `.s.PGSQL.${first.connection.port}.lock`].map((name) => join(first.dataFolder, name));
    const left = lockFiles.map((file) => readFileSync(file, 'utf8'));
    await first.stop();

    const stranger = spawn('sleep', ['60'], await ownerOf(first.dataFolder));
    undo.push(() => stranger.kill());
    lockFiles.forEach((file, index) => { writeFileSync(file, left[index]?.replace(/^\d+/, `${stranger.pid}`) ?? ''); });
    await start(folder);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
  });

  test('a server that dies by itself is reported, and can be started again', async () => {
    const died = Promise.withResolvers<Error>();
    const first = await start(folder, { onExit: died.resolve });
    process.kill(postmasterOf(first), 'SIGKILL');
    expect((await died.promise).message).toContain('PostgreSQL ended (SIGKILL)');
    expect(await query(await start(folder), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('a server that cannot start says why, and does not keep the folder', async () => {
    const { dataFolder, stop } = await start(folder);
    await stop();
    writeFileSync(join(dataFolder, 'PG_VERSION'), '9\n');
    await expect(start(folder)).rejects.toThrow('database files are incompatible with server');
    writeFileSync(join(dataFolder, 'PG_VERSION'), '18\n');
    await expect(start(folder)).resolves.toMatchObject({ dataFolder });
  });
});

describe.runIf(AS_ROOT)('root', () => {
  test("below a folder that PostgreSQL's user cannot enter, finds the cluster outside again", async () => {
    const folder = newFolder(0o700);
    const first = await start(folder);
    folders.push(dirname(first.dataFolder));
    expect(first.dataFolder).toMatch(/^\/var\/lib\/mediary\/.+\/postgres$/);
    await query(first, 'create table note (text text)');
    await first.stop();
    expect(lstatSync(join(folder, 'postgres')).isSymbolicLink()).toBe(true);
    expect(await notes(await start(folder))).toEqual([]);
  });

  test("takes over an ordinary user's folder, and leaves the cluster to that user", async () => {
    const { child, ...theirs } = await startElsewhere(newFolder(0o777), NOBODY);
    await query(theirs, 'create table note (text text)');
    await kill(child);
    const ours = await start(dirname(theirs.dataFolder));
    expect(await notes(ours)).toEqual([]);
    expect(statSync(ours.dataFolder).uid).toBe(NOBODY.uid);
  });
});
