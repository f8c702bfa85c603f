// Each code block of the README, the guides and the packages' READMEs does what it says: commands run,
// programs compile, JSON fits the OpenAPI document. guide-programs.test.ts runs what needs a browser, and
// test/client-package.test.ts the examples of packages/client.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../service/src/config.ts';
import { launchChromium } from '../support/playback/browser.ts';
import { type CodeBlock, placeAtLines, readCodeBlocks } from '../support/http/code-blocks.ts';
import { SECRETS } from '../support/service.ts';
import { type DocumentFixtures, startDocumentFixtures } from './document-fixtures.ts';

const ROOT = join(import.meta.dirname, '../..');
const GUIDES = globSync('docs/guides/*.md', { cwd: ROOT }).sort();
/** quick-starts.test.ts runs the quick starts, in folders that are empty before. */
const isQuickStart = (document: string): boolean => document.startsWith('docs/guides/quick-start-');
/** payload.test.ts runs this guide: the types of Payload change those of Node for other documents. */
const PAYLOAD = 'docs/guides/payload.md';
const DOCUMENTS = [
  'README.md',
  ...GUIDES.filter((document) => !isQuickStart(document) && document !== PAYLOAD),
  'packages/client/README.md',
  'packages/cli/README.md',
  'packages/elements/README.md',
  'packages/mcp/README.md',
  'packages/embedded-postgres/README.md',
  'examples/upload-and-play/README.md',
];
/** A block that cannot run here says why in its comment. Their number must not grow unnoticed. */
const NOT_RUN = 33;
/** `tsx`: compiled by test/elements-package.test.ts. */
const LANGUAGES = ['sh', 'ts', 'tsx', 'js', 'html', 'json', 'yaml', 'dotenv', 'http', 'text'];

const blocks = DOCUMENTS.flatMap(readCodeBlocks);
const placeOf = ({ document, line }: CodeBlock) => `${document}:${line}`;
const isRun = ({ marker }: CodeBlock) => marker?.name !== 'not run';
const blocksIn = (...languages: readonly string[]) =>
  blocks.filter((block) => languages.includes(block.language) && isRun(block));
const documentsOf = (found: readonly CodeBlock[]) => [...new Set(found.map(({ document }) => document))];
const isProgram = ({ language, marker }: CodeBlock) => language === 'ts' && marker?.name === 'file';

let fixtures: DocumentFixtures;
beforeAll(async () => {
  fixtures = await startDocumentFixtures(DOCUMENTS);
  for (const block of blocks)
    if (block.marker?.name === 'file') await writeBlocks(block.document, block.marker.value, [block]);
});
afterAll(() => fixtures?.stop());

async function writeBlocks(document: string, name: string, content: readonly CodeBlock[]): Promise<void> {
  const code = fixtures.replaceAddresses(document, placeAtLines(content));
  await writeFile(join(fixtures.folderOf(document), name), code);
}

test('every block has a language that is checked', () => {
  const unknown = blocks.filter(({ language }) => !LANGUAGES.includes(language));
  expect(unknown.map(placeOf)).toEqual([]);
});

test('few blocks are not run, each for a reason', () => {
  const notRun = blocks.filter((block) => !isRun(block));
  expect(notRun.filter(({ marker }) => !marker?.value).map(placeOf)).toEqual([]);
  expect(notRun.map(placeOf)).toHaveLength(NOT_RUN);
});

test('every guide begins with what it needs', () => {
  return Promise.all(
    GUIDES.map(async (guide) => {
      const [, first] = /^## (.+)$/m.exec(await readFile(join(ROOT, guide), 'utf8')) ?? [];
      expect(first, guide).toBe('Before you start');
    }),
  );
});

describe.concurrent('the commands of', () => {
  test.each(documentsOf(blocksIn('sh')))('%s', async (document) => {
    const commands = blocksIn('sh')
      .filter((block) => block.document === document)
      .map((block) =>
        block.marker?.name === 'in the background'
          ? { ...block, code: `{ ${block.code}\n} & background+=($!)` }
          : block,
      );
    await writeBlocks(document, 'commands.sh', commands);
    expect(await runShell(fixtures.folderOf(document)), document).toBe('');
  });
});

/** Returns what failed, with the output; empty if nothing did. */
async function runShell(folder: string): Promise<string> {
  const failures = join(folder, 'failures.txt');
  await writeFile(failures, '');
  const program = `. ${fixtures.shellPrelude}; . ./commands.sh; end_background`;
  const shell = spawn('bash', ['-c', program], {
    cwd: folder,
    env: { ...fixtures.environment, FAILURES: failures },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const [code] = await once(shell, 'exit');
  const failed = await readFile(failures, 'utf8');
  return code === 0 && failed === '' ? '' : `${failed}exit code ${code}\n${output}`;
}

test('the TypeScript of all documents compiles in strict mode', async () => {
  const fragments = blocksIn('ts').filter((block) => !isProgram(block));
  for (const document of documentsOf(fragments))
    await writeBlocks(
      document,
      'fragments.ts',
      fragments.filter((block) => block.document === document),
    );
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, moduleDetection: 'force' },
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], types: ['node'] },
    ...{ module: 'nodenext', allowImportingTsExtensions: true },
  };
  await writeFile(
    join(fixtures.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, include: ['globals.ts', '*/*.ts'] }),
  );
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const compiled = promisify(execFile)(process.execPath, [compiler, '-p', '.'], { cwd: fixtures.folder });
  expect(await compiled.catch(({ stdout }: { stdout: string }) => ({ stdout }))).toMatchObject({
    stdout: '',
  });
});

test.each(blocksIn('dotenv').map((block) => [placeOf(block), block] as const))(
  'the settings in %s are valid',
  (_place, { code }) => {
    let settings: Record<string, string> = { ...SECRETS };
    for (const line of code.split('\n').filter(Boolean)) {
      const [, name = '', quoted, plain] = /^([A-Z_]+)=(?:'([^']*)'|(\S*))(?:\s+#.*)?$/.exec(line) ?? [];
      expect(name, line).not.toBe('');
      // A name that comes again begins an alternative.
      if (name in settings) {
        expect(() => readConfig(settings, (path) => path)).not.toThrow();
        settings = { ...SECRETS };
      }
      settings[name] = quoted ?? plain ?? '';
    }
    expect(() => readConfig(settings, (path) => path)).not.toThrow();
  },
);

describe('JSON in', () => {
  test.each(blocksIn('json').map((block) => [placeOf(block), block] as const))(
    '%s has members of its schema',
    async (_place, { code, marker }) => {
      const value = JSON.parse(code) as Record<string, unknown>;
      const response = await fetch(`${fixtures.hosts.service.url}/openapi.json`);
      const document = (await response.json()) as {
        components: { schemas: Record<string, { properties: object }> };
      };
      const path = `components/schemas/${marker?.value}/properties`;
      const members = Object.keys(document.components.schemas[marker?.value ?? '']?.properties ?? {});
      const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'api');
      const validate = ajv.compile({
        properties: Object.fromEntries(members.map((name) => [name, { $ref: `api#/${path}/${name}` }])),
        additionalProperties: false,
      });
      expect(validate(value), ajv.errorsText(validate.errors)).toBe(true);
    },
  );
});

test.each(blocksIn('yaml').map((block) => [placeOf(block), block.code]))('YAML in %s', (_place, code) => {
  const { parse } = createRequire(import.meta.url)('yaml') as { parse(text: string): unknown };
  expect(parse(code)).toBeTypeOf('object');
});

describe('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());

  test.each(blocksIn('html').map((block) => [placeOf(block), block.code] as const))(
    '%s is HTML',
    async (_place, code) => {
      const page = await browser.newPage();
      const markup = code.replace(/(<script[^>]*>)[\s\S]*?(<\/script>)/g, '$1$2').replace(/<!.*?>/g, '');
      const names = Array.from(markup.matchAll(/<([a-z][a-z-]*)/g), ([, name]) => name?.toUpperCase());
      const parsed = await page.evaluate<string[]>(
        `(() => { const root = document.createElement('template'); root.innerHTML = ${JSON.stringify(markup)};
          return [...root.content.querySelectorAll('*')].map(({ tagName }) => tagName); })()`,
      );
      expect(parsed).toEqual(names);
      await page.close();
    },
  );
});
