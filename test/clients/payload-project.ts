// A project with Payload as docs/guides/payload.md configures it, and an editor who uses its REST API.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { readCodeBlocks } from '../support/http/code-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const EDITOR = { email: 'ann@example.com', password: 'a-long-password' };

export type PayloadDocument = { id: number; filename: string; mediaryId: string; url: string };
type PayloadAnswer = {
  readonly status: number;
  readonly body: PayloadDocument & {
    doc: PayloadDocument;
    token: string;
    totalDocs: number;
    errors: { message: string }[] | undefined;
  };
};
type PayloadBody = { readonly json?: object; readonly file?: TestFile };
export type TestFile = { readonly bytes: Uint8Array; readonly filename: string; readonly type?: string };

export type PayloadProject = {
  readonly folder: string;
  readonly origin: string;
  readonly asEditor: { readonly authorization: string };
  /** A request of the editor: `call('POST /media', { file })`. */
  call(methodAndPath: string, body?: PayloadBody): Promise<PayloadAnswer>;
  /** What the compiler finds in the configuration. */
  compile(): Promise<string>;
  stop(): Promise<void>;
};

export async function startPayload(account: {
  readonly baseUrl: string;
  readonly serviceKey: string;
}): Promise<PayloadProject> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-payload-'));
  await createProject(folder);
  const program = startProgram(folder, {
    MEDIARY_URL: account.baseUrl,
    MEDIARY_KEY: account.serviceKey,
  });
  const origin = await readOrigin(program);
  const { body } = await call({ origin }, 'POST /users/first-register', { json: EDITOR });
  const asEditor = { authorization: `JWT ${body.token}` };
  return {
    folder,
    origin,
    asEditor,
    call: (methodAndPath, content) => call({ origin, headers: asEditor }, methodAndPath, content),
    compile: () => compile(folder),
    stop: async () => {
      program.kill();
      await once(program, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function createProject(folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['@mediary', '@types', 'undici-types'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  for (const name of ['@payloadcms', 'payload'])
    await symlink(join(import.meta.dirname, 'node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const [config] = readCodeBlocks('docs/guides/payload.md').filter(({ marker }) => marker?.name === 'file');
  const code = config?.code
    .replace('mediaryStorage(account)', "$&, prefix: 'inside'")
    // Payload would report to its makers.
    .replace('buildConfig({', '$& telemetry: false,');
  await writeFile(join(folder, 'payload.config.ts'), code ?? '');
}

function startProgram(folder: string, environment: Readonly<Record<string, string>>): ChildProcess {
  const script = join(import.meta.dirname, 'programs/payload.ts');
  return spawn(process.execPath, [script, join(folder, 'payload.config.ts')], {
    cwd: folder,
    env: {
      ...process.env,
      ...environment,
      // Payload creates the tables then.
      NODE_ENV: 'development',
      DATABASE_URL: `file:${join(folder, 'payload.db')}`,
      PAYLOAD_SECRET: 'test-payload-secret',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function readOrigin({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout as NonNullable<typeof stdout> })) {
    const [, origin] = /^origin: (.+)$/.exec(line) ?? [];
    if (origin) return origin;
  }
  throw new Error('Payload has ended');
}

type Caller = { readonly origin: string; readonly headers?: Readonly<Record<string, string>> };

async function call(
  { origin, headers }: Caller,
  methodAndPath: string,
  { json, file }: PayloadBody = {},
): Promise<PayloadAnswer> {
  const [method = '', path = ''] = methodAndPath.split(' ');
  const response = await fetch(`${origin}/api${path}`, {
    method,
    headers: { ...headers, ...(json && { 'content-type': 'application/json' }) },
    ...(json && { body: JSON.stringify(json) }),
    ...(file && { body: toForm(file) }),
  });
  return { status: response.status, body: (await response.json()) as PayloadAnswer['body'] };
}

function toForm({ bytes, filename, type = 'image/png' }: TestFile): FormData {
  const form = new FormData();
  form.set('file', new Blob([Buffer.from(bytes)], { type }), filename);
  form.set('_payload', '{}');
  return form;
}

async function compile(folder: string): Promise<string> {
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], types: ['node'] },
    ...{ module: 'nodenext', allowImportingTsExtensions: true },
  };
  const project = { compilerOptions, files: ['payload.config.ts'] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const compiled = promisify(execFile)(process.execPath, [compiler, '-p', '.'], { cwd: folder });
  const { stdout } = await compiled.catch((error: { readonly stdout: string }) => error);
  return stdout;
}
