// The commands of docs/reference run in a shell, and the programs compile in strict mode.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  describeExpected,
  describeSent,
  type ExamplePage,
  readExamplePages,
  type SentRequest,
} from './support/http/reference-examples.ts';

const ROOT = join(import.meta.dirname, '..');
const ORIGIN = 'https://media.example.com';
const run = promisify(execFile);
const pages = readExamplePages();
const cases = pages.map((page) => [page.name, page] as const);

let folder: string;
let server: Server;
let sent: SentRequest[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-reference-'));
  await mkdir(join(folder, 'node_modules'));
  for (const name of ['@mediary', '@types', 'undici-types'])
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    sent.push({
      method,
      url,
      headers: new Headers(headers as Record<string, string>),
      body: await text(request),
    });
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
});
beforeEach(() => {
  sent = [];
});
afterAll(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

const toScript = ({ setup, examples }: ExamplePage): string => {
  const { port } = server.address() as AddressInfo;
  const commands = [
    setup.curl.replaceAll(ORIGIN, `http://127.0.0.1:${port}`),
    ...examples.map(({ curl }) => curl),
  ];
  return commands.join('\n');
};

describe('the commands of', () => {
  test.each(cases)('%s send their requests', async (_name, page) => {
    // The examples of another page may have written a file of this name.
    for (const { expected } of page.examples)
      if (expected.file) await writeFile(join(folder, expected.file), expected.file);
    await run('sh', ['-eu', '-c', toScript(page)], { cwd: folder });
    expect(sent.map(describeSent)).toEqual(page.examples.map(({ expected }) => describeExpected(expected)));
    for (const [index, { expected }] of page.examples.entries()) {
      const { headers, body } = sent[index] as SentRequest;
      expect(Object.fromEntries(headers)).toMatchObject(toLowerCase(expected.headers));
      if (expected.file) expect(body).toBe(expected.file);
    }
  });
});

const toLowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

test('the programs compile in strict mode', async () => {
  for (const { name, setup, examples } of pages) {
    const parts = examples.map(
      ({ operation, program }) => `export async function ${operation.id}() {\n${program}\n}`,
    );
    const file = name.replace(/^.*\/(.+)\.md$/, '$1.ts');
    await writeFile(join(folder, file), [setup.program, ...parts].join('\n\n'));
  }
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true },
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'], types: ['node'] },
    ...{ module: 'nodenext', moduleDetection: 'force', allowImportingTsExtensions: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const compiled = run(process.execPath, [compiler, '-p', folder], { cwd: folder });
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  expect(stdout).toBe('');
});
