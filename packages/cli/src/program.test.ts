// Tests usage, help and exit codes of the whole program.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runInProcess, serve } from './program.fixture.ts';
import { createProgram } from './program.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mediary-cli-'));
});
afterAll(() => rm(home, { recursive: true }));

const run = (args: string, env: Readonly<Record<string, string>> = {}) =>
  runInProcess(args.split(' '), { env: { HOME: home, ...env }, folder: home });

describe('usage', () => {
  test.each([
    'nonsense',
    'ls --limit 0',
    'ls --status done',
    'token',
    'token --user a --expires never',
    'token --user a --expires 999999999d',
    'watch a --timeout 30d --token t',
    'upload',
    'upload a.mp4 --public --private',
    'get a b',
    'config use missing',
    'replay --apply --operator-key key',
    'ls --url ftp://a.test',
    'ls --token t --service-key k',
    'completion tcsh',
    'webhooks create',
    'upload-tokens create --kind film',
    'upload . --token t',
  ])('%s exits with 2 and prints nothing on stdout', async (args) => {
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/error:/i);
  });

  test('help exits with 0 and names every command and exit code', async () => {
    const { code, stdout } = await run('--help');
    expect(code).toBe(0);
    expect(stdout).toContain('MEDIARY_SERVICE_KEY');
    for (const command of ['upload', 'upload-tokens', 'watch', 'doctor', 'replay', 'webhooks'])
      expect(stdout).toContain(command);
  });
});

test('--version prints the version of the package', async () => {
  expect(await run('--version')).toEqual({ code: 0, stdout: '0.1.0\n', stderr: '' });
});

test('help has groups and examples', async () => {
  const { stdout } = await run('--help');
  const groups = [...stdout.matchAll(/^(\S.*):$/gm)].map(([, name]) => name);
  expect(groups).toEqual(
    expect.arrayContaining(['Assets', 'Playback', 'For operators', 'Setup', 'Examples']),
  );
  expect((await run('upload --help')).stdout).toContain('mediary upload holidays/ --recursive');
});

test('the table of README.md has every command', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
  const isListed = ({ group, name }: CommandPath): boolean =>
    rows.some((row) => RegExp(`\`(${group} )?${name}[\` ]`).test(row) && row.includes(`\`${group ?? name}`));
  const paths = listCommands(createProgram(silentIo()));
  expect(paths.length).toBeGreaterThan(50);
  expect(paths.filter((path) => !isListed(path))).toEqual([]);
});

type CommandPath = { readonly group: string | undefined; readonly name: string };

/** Without groups, which do nothing by themselves. */
const listCommands = (command: Command, group?: string): CommandPath[] =>
  command.commands.flatMap((child) =>
    child.commands.length > 0 ? listCommands(child, child.name()) : [{ group, name: child.name() }],
  );

function silentIo() {
  const stream = new PassThrough();
  const { signal } = new AbortController();
  return { env: {}, folder: '/', stdin: stream, stdout: stream, stderr: stream, signal };
}

test.each(['listen', 'events replay --since beginning'])(
  '%s refuses a type that no event has',
  async (args) => {
    const { code, stderr } = await run(`${args} --forward-to http://127.0.0.1:1 --event asset.redy`);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("'asset.redy' is invalid. Expected one of asset."),
    ]);
  },
);

test('a secret comes from the environment, which no list of processes shows', async () => {
  const received: string[] = [];
  const { server, url } = await serve((request, response) => {
    received.push(String(request.headers['webhook-signature']));
    response.end();
  });
  const MEDIARY_WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  const args = `trigger asset.ready --to ${url}`;
  const { code, stderr } = await run(args, { MEDIARY_WEBHOOK_SECRET });
  const wrong = await run(args, { MEDIARY_WEBHOOK_SECRET: 'planted' });
  server.close();
  expect([code, stderr, received]).toEqual([0, '', [expect.stringMatching(/^v1,/)]]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('MEDIARY_WEBHOOK_SECRET')]);
  expect(wrong.stderr).not.toContain('planted');
});

test('an endpoint without its URL is told from the URL of the service', async () => {
  const { stderr } = await run('webhooks create --url https://app.test/hooks --service-key k');
  expect(stderr).toMatch(/^Error: Name the URL that receives the events: mediary webhooks create https/);
  expect(stderr).toContain('--url is the URL of the service.');
});

describe('credentials', () => {
  test.each(['ls', 'deliveries list', 'providers', 'token --user ann'])('%s needs them: 3', async (args) => {
    expect(await run(args)).toMatchObject({ code: 3, stdout: '' });
  });

  test('of the data folder are used for a service on this machine', async () => {
    await writeFile(join(home, 'secrets.json'), JSON.stringify({ ACCESS_TOKEN_SECRET: 'secret' }), {
      mode: 0o600,
    });
    const { code, stdout } = await run('token --user ann --json', { DATA_DIR: home });
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ user_id: 'ann' })]);
    expect((await run('token --user ann --url https://media.test', { DATA_DIR: home })).code).toBe(3);
  });

  test('are never shown whole', async () => {
    const secret = 'a-service-key-of-some-length';
    const { stdout } = await run('config show', { MEDIARY_SERVICE_KEY: secret });
    expect(stdout).toContain('a-se…');
    expect(stdout).not.toContain(secret);
  });

  test('of a damaged profile file are not quoted', async () => {
    const file = join(home, 'mediary', 'config.json');
    await run('config login --token planted-secret', { XDG_CONFIG_HOME: home });
    await writeFile(file, '{"profiles": planted-secret', { mode: 0o600 });
    const { code, stderr } = await run('ls', { XDG_CONFIG_HOME: home });
    expect([code, stderr]).toEqual([2, `Error: ${file} is invalid: the file is not JSON\n`]);
  });
});

test.each([
  ['ls --json', 3, 'No credentials for http://127.0.0.1:8080.'],
  ['ls --json --bogus', 2, "unknown option '--bogus'"],
  [
    'ls --limit 0 --json',
    2,
    "option '--limit <count>' argument '0' is invalid. Expected a positive integer.",
  ],
  ['fsck --delete-unknown --json', 2, '--delete-unknown needs --repair.'],
  ['get --json', 2, "missing required argument 'id'"],
  ['nonsense --json', 2, "unknown command 'nonsense'"],
  ['webhooks --json', 2, 'The name of a command is missing.'],
])('with --json an error is one JSON document on stderr: %s', async (args, exitCode, message) => {
  const { code, stdout, stderr } = await run(args);
  expect([code, stdout]).toEqual([exitCode, '']);
  expect(JSON.parse(stderr)).toEqual({
    error: expect.objectContaining({ exit_code: exitCode, message }),
  });
});
