// What a release packs, installed in an empty project from its tarballs: linters of packages, Node's two
// module systems, a bundler, an edge runtime, the command line and the MCP server against a service.
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../support/clips/clips.ts';
import { openUpload } from '../support/media.ts';
import { SECRETS, startTestService, tokenOf } from '../support/service.ts';

/** Installed by `npm ci --prefix test/clients` alone: the types of the repository do not need them. */
const require = createRequire(import.meta.url);
const { EdgeVM } = require('@edge-runtime/vm') as { EdgeVM: new () => { evaluate<T>(code: string): T } };
const { publint } = require('publint') as {
  publint(options: object): Promise<{ messages: readonly unknown[] }>;
};
type Bundle = { readonly outputFiles: readonly { text: string }[]; readonly warnings: readonly unknown[] };
const { build } = require('esbuild') as { build(options: object): Promise<Bundle> };

const ROOT = join(import.meta.dirname, '../..');
const VERSION = '9.8.7';
const LIBRARIES = ['client', 'elements', 'testing'];
const COMMANDS = ['cli', 'mcp'];
/** Of the machine, beside the Node that npm installs. */
const SYSTEM_NODE = '/usr/bin/node';

let project: string;
let release: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mediary-release-test-'));
  release = join(project, 'release');
  const script = join(ROOT, 'deploy/release/release.ts');
  await run(process.execPath, script, VERSION, '--dry-run', '--to', release);
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const tarballs = (await readdir(release)).filter((name) => name.endsWith('.tgz'));
  const installed = tarballs.filter((name) => name !== basename(tarballOf('testing')));
  await run('npm', 'install', '--no-audit', '--no-fund', ...installed.map((name) => `./release/${name}`));
  // quick-starts.test.ts installs it: with PostgreSQL that takes as long as all of these tests.
  const testing = join(project, 'node_modules/@mediary/testing');
  await mkdir(testing);
  await run('tar', '-xzf', tarballOf('testing'), '-C', testing, '--strip-components=1');
}, 180_000);
afterAll(() => rm(project, { recursive: true, force: true }));

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(program, [...args], { cwd: project }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`${program} ${args.join(' ')} failed:\n${error.stdout}${error.stderr}`);
    },
  );
  return stdout;
}
const tarballOf = (name: string): string => join(release, `mediary-${name}-${VERSION}.tgz`);

test('the release has packages, checksums, a bill of materials, and what changed', async () => {
  const names = await readdir(release);
  const files = [
    'CHANGES.md',
    'sbom.cdx.json',
    ...[...COMMANDS, ...LIBRARIES].map((name) => `mediary-${name}-${VERSION}.tgz`),
  ];
  expect(names.sort()).toEqual([...files, 'SHA256SUMS'].sort());
  await promisify(execFile)('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: release });
  const { components } = JSON.parse(await readFile(join(release, 'sbom.cdx.json'), 'utf8')) as {
    components: { name: string }[];
  };
  expect(components.map(({ name }) => name)).toEqual(expect.arrayContaining(['fastify', 'pg-boss', 'sharp']));
});

test.each([...LIBRARIES, ...COMMANDS])('@mediary/%s passes publint without a finding', async (name) => {
  const { messages } = await publint({
    pkgDir: join(project, `node_modules/@mediary/${name}`),
    pack: false,
  });
  expect(messages).toEqual([]);
});

describe.each(LIBRARIES)('@mediary/%s', (name) => {
  test('has types for every way to resolve modules', async () => {
    const attw = join(import.meta.dirname, 'node_modules/.bin/attw');
    const browser = name === 'elements' ? ['--exclude-entrypoints', 'browser/*'] : [];
    // It ends with an error where it finds a problem.
    expect(await run(attw, tarballOf(name), '--profile', 'esm-only', ...browser)).toContain(
      `@mediary/${name}`,
    );
  });
});

const IMPORTS = {
  'a module': [
    'module.mjs',
    "import { createMediary } from '@mediary/client'; console.log(typeof createMediary);",
  ],
  CommonJS: ['common.cjs', "console.log(typeof require('@mediary/client').createMediary);"],
} as const;
describe.each([
  ['the Node of the service', process.execPath],
  ['the Node of the machine', SYSTEM_NODE],
])('%s', (_, node) => {
  test.each(Object.entries(IMPORTS))('imports the client into %s', async (_kind, [file, code]) => {
    await writeFile(join(project, file), code);
    expect(await run(node, file)).toBe('function\n');
  });
});

test('esbuild bundles player, uploader and client for browsers', async () => {
  for (const entry of ['client', 'elements/player', 'elements/uploader']) {
    const { outputFiles, warnings } = await bundle(`export * from '@mediary/${entry}';`);
    expect(warnings).toEqual([]);
    expect(outputFiles).toHaveLength(1);
  }
});

test('a webhook is verified in an edge runtime', async () => {
  const { outputFiles } = await bundle("export { verifyWebhook } from '@mediary/client';");
  const vm = new EdgeVM();
  const [secret, id, timestamp] = [
    'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0',
    '1',
    `${Math.floor(Date.now() / 1000)}`,
  ];
  const payload = JSON.stringify({ type: 'test' });
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${payload}`).digest('base64');
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const verify = (signed: string): Promise<{ type: string }> => {
    const options = JSON.stringify({ payload: signed, headers, secrets: secret });
    return vm.evaluate(`${outputFiles[0]?.text}; released.verifyWebhook(${options})`);
  };
  expect((await verify(payload)).type).toBe('test');
  await expect(verify(payload.replace('test', 'text'))).rejects.toMatchObject({
    errorCode: 'INVALID_SIGNATURE',
  });
});

test('the command works from its tarball against a service', async () => {
  const service = await startTestService();
  try {
    const { asset_id: id } = await openUpload(service, 'ann');
    const access = ['--url', service.address, '--service-key', SECRETS.SERVICE_API_KEY, '--owner', 'ann'];
    const mediary = join(project, 'node_modules/.bin/mediary');
    expect(await run(mediary, '--version')).toBe(`${VERSION}\n`);
    expect(JSON.parse(await run(mediary, 'get', id, '--json', ...access))).toMatchObject({ id });
  } finally {
    await service.stop();
  }
});

test.each([process.execPath, SYSTEM_NODE])('the MCP server works from its tarball with %s', async (node) => {
  const service = await startTestService();
  const transport = new StdioClientTransport({
    command: node,
    args: [join(project, 'node_modules/@mediary/mcp/bin/mediary-mcp.js'), '--write'],
    cwd: project,
    env: { MEDIARY_URL: service.address, MEDIARY_TOKEN: tokenOf('ann') },
    stderr: 'ignore',
  });
  const client = new Client({ name: 'test', version: VERSION });
  try {
    await writeFile(join(project, 'clip.mp4'), await readFile(await makeClip({ seconds: 1 })));
    await client.connect(transport);
    expect(client.getServerVersion()).toMatchObject({ name: 'mediary', version: VERSION });
    const uploaded = await client.callTool({ name: 'upload_file', arguments: { path: 'clip.mp4' } });
    expect(uploaded.structuredContent).toMatchObject({ asset: { filename: 'clip.mp4' } });
    const status = await client.callTool({ name: 'get_status', arguments: {} });
    expect(status.structuredContent).toMatchObject({ is_reachable: true });
  } finally {
    await client.close();
    await service.stop();
  }
});

/** One script; what is bundled is in `released`. */
const bundle = (contents: string) =>
  build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'released',
    logLevel: 'silent',
  });
