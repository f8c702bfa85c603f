// Clients that are generated from the OpenAPI document compile in strict mode and make the calls of the
// tour with curl.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  CdnhostReport,
  EdgehostReport,
  OnpremReport,
  webhookOperation,
} from '../../packages/contract/src/operations/webhooks.ts';
import { renderOpenApi } from '../../packages/contract/src/openapi/document.ts';
import { OPERATIONS } from '../../packages/contract/src/operations.ts';
import { makeClip } from '../support/clips/clips.ts';
import { SECRETS, startTestService, type TestService } from '../support/service.ts';

const HERE = import.meta.dirname;
const CLIENTS = ['openapi-fetch', 'orval', 'hey-api'] as const;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    rootDir: '.',
    outDir: 'compiled',
  },
  include: CLIENTS,
};

const ORVAL = {
  input: 'openapi.json',
  output: {
    target: 'orval/client.ts',
    client: 'fetch',
    mode: 'single',
    baseUrl: { getBaseUrlFromSpecification: true },
  },
};

const WEBHOOKS = { cdnhost: CdnhostReport, edgehost: EdgehostReport, onprem: OnpremReport };

/** `origin` is the address of the service, without a trailing slash. */
function renderDocument(origin: string): object {
  const webhooks = Object.entries(WEBHOOKS).map(([name, body]) =>
    webhookOperation(name, { body, signature: 'The signature of the provider.', headers: ['X-Signature'] }),
  );
  return renderOpenApi([...OPERATIONS, ...webhooks], {
    server: origin,
    providers: Object.keys(WEBHOOKS),
    version: '1.0.0',
  });
}

let service: TestService;
let folder: string;

/** Runs a program of this package in the folder of the generated clients; throws with its output. */
async function run(program: string, ...args: string[]): Promise<void> {
  const file = join(HERE, 'node_modules/.bin', program);
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  await promisify(execFile)(file, args, { cwd: folder, env }).catch((error: { stdout: string }) => {
    throw new Error(`${program} failed:\n${error.stdout}`, { cause: error });
  });
}

beforeAll(async () => {
  service = await startTestService();
  folder = await mkdtemp(join(tmpdir(), 'mediary-clients-'));
  await symlink(join(HERE, 'node_modules'), join(folder, 'node_modules'));
  const files = {
    'openapi.json': renderDocument(service.address),
    'package.json': { private: true },
    'tsconfig.json': TSCONFIG,
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), JSON.stringify(content));
  await writeFile(
    join(folder, 'orval.config.cjs'),
    `module.exports = { mediary: ${JSON.stringify(ORVAL)} };\n`,
  );
  for (const name of CLIENTS) {
    await mkdir(join(folder, name));
    await copyFile(join(HERE, `programs/${name}.ts`), join(folder, name, 'program.ts'));
  }
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await service.stop();
});

describe('the OpenAPI document', () => {
  test('passes Redocly without a finding', () =>
    run('redocly', 'lint', '--config', join(HERE, 'redocly.yaml'), '--max-problems=20', 'openapi.json'));
  test('passes Spectral without a finding', () =>
    run('spectral', 'lint', '--fail-severity=hint', '-r', join(HERE, '.spectral.yaml'), 'openapi.json'));
});

describe('generated clients', () => {
  test('compile in strict mode', async () => {
    await run('openapi-typescript', 'openapi.json', '-o', 'openapi-fetch/schema.ts');
    await run('orval', '--config', 'orval.config.cjs');
    await run('openapi-ts', '-i', 'openapi.json', '-o', 'hey-api/client', '--no-log-file');
    await run('tsc', '-p', '.');
  });

  test.each(CLIENTS)('%s uploads, plays and deletes a video', async (name) => {
    const program = join(folder, 'compiled', name, 'program.js');
    const args = [program, service.address, SECRETS.SERVICE_API_KEY, await makeClip({ seconds: 1 })];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe('done\n');
  });
});
