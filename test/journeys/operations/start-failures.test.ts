// The process exits with one line of its log, or of a command on stderr, if it cannot start (contract B9).
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { OWN_SECRETS } from '../../../service/src/auth/settings.ts';
import { SECRETS } from '../../support/service.ts';

const DATABASE = { DATABASE_URL: 'postgres://mediary:planted-password@db.test/mediary' };
const HOSTS = { CDNHOST_STREAM_HOSTNAME: 'cdn.test', EDGEHOST_CUSTOMER_SUBDOMAIN: 'edge.test' };
const given = { ...DATABASE, ...SECRETS, ...HOSTS };

/** Starts the service with these settings and arguments alone, and waits for its end. */
async function failedStart(environment: Record<string, string>, args: readonly string[] = []) {
  const start = fileURLToPath(new URL('../../../service/start.js', import.meta.url));
  const child = spawn(process.execPath, [start, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, stderr, code] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    new Promise((resolve) => {
      child.once('close', resolve);
    }),
  ]);
  return { code, out: Buffer.concat(out).toString(), stderr: Buffer.concat(stderr).toString() };
}

/** Where standard output is no terminal, the only output is one line of the log. */
async function failureOf(environment: Record<string, string>): Promise<unknown> {
  const { code, out, stderr } = await failedStart(environment);
  expect([code, stderr]).toEqual([1, '']);
  expect(out).toMatch(/^\{.*\}\n$/);
  return JSON.parse(out);
}

const lineWith = (message: string) => ({
  level: 'fatal',
  time: expect.stringMatching(/^\d{4}-.*Z$/),
  instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
  host: hostname(),
  role: 'all',
  version: expect.stringMatching(/^\d+\.\d+\.\d+/),
  err: expect.objectContaining({ message }),
  msg: 'the service cannot start',
});

test('the process logs why it cannot start and exits', async () => {
  const problems = [
    'Invalid settings:',
    '  - PORT must be a whole number from 0 to 65535',
    ...OWN_SECRETS.map((name) => `  - ${name} must be set`),
  ];
  expect(await failureOf({ ...DATABASE, PORT: 'http', DATA_DIR: tmpdir() })).toEqual(
    lineWith(problems.join('\n')),
  );
});

test('lines for people say it without a terminal too', async () => {
  const { out, stderr } = await failedStart({ ...DATABASE, LOG_FORMAT: 'pretty', DATA_DIR: tmpdir() });
  expect(out).toMatch(/^[\d:]+ FATAL the service cannot start \n {2}Error: Invalid settings:\n/);
  expect(stderr).toBe('');
});

test('a read-only data folder and an invalid FFMPEG_PATH cause one line each', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-start-'));
  try {
    const file = join(folder, 'file');
    await writeFile(file, '');
    const below = join(file, 'data');
    expect(await failureOf({ DATA_DIR: below })).toEqual(
      lineWith(
        `DATA_DIR: the folder ${below} cannot be written (ENOTDIR). ` +
          'Give the user of the service write access, or name another folder.',
      ),
    );
    const wrongEngine = { ...given, DATA_DIR: folder, FFMPEG_PATH: '/bin/echo', LOG_LEVEL: 'silent' };
    expect(await failureOf(wrongEngine)).toEqual(
      lineWith(
        'FFMPEG_PATH cannot be used: /bin/echo is not ffmpeg. ' +
          'Set it to an ffmpeg program, or unset it to use the installed one.',
      ),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('--help lists the commands, or explains the one before it, and starts nothing', async () => {
  const all = await failedStart({}, ['--help']);
  expect(all).toMatchObject({ code: 0, stderr: '' });
  expect(all.out.match(/^ {2}npm (?:run \w+|start(?: --)?)/gm)).toEqual([
    '  npm start',
    '  npm start --',
    '  npm run sample',
    '  npm run seed',
    '  npm run seed',
    '  npm run migrate',
    '  npm run storage',
    '  npm run backup',
    '  npm run backup',
    '  npm run backup',
    '  npm run backup',
    '  npm run fsck',
    '  npm run provider',
    '  npm run encoder',
  ]);
  expect(await failedStart({}, ['seed', '--help'])).toEqual({
    code: 0,
    out: expect.stringMatching(
      /^Usage:\n {2}npm run seed -- --assets 1000 .*\n {2}npm run seed -- --demo .*\n$/,
    ),
    stderr: '',
  });
});

test('a command that does not exist, or an argument that is not allowed, ends with what is', async () => {
  const { code, stderr } = await failedStart({}, ['begin']);
  expect([code, stderr]).toEqual([
    1,
    'Unknown command "begin". ' +
      'Commands: start, --simulate, sample, seed, migrate, storage, backup, fsck, ' +
      'provider, encoder, --help.\n',
  ]);
  expect((await failedStart({}, ['seed', '--assets', 'x'])).stderr).toContain('not "x"');
});
