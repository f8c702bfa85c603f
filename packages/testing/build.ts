// Builds the package that is published, as JavaScript with types: `npm run build -w @mediary/testing`, then
// `npm pack ./packages/testing/dist`. It contains the service, in the folders of the repository: sources name
// files by their place. Inside the repository the sources run as they are.
import { execFile } from 'node:child_process';
import { copyFile, cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { bundleProgram } from './src/service-bundle.ts';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const folder = process.argv[2] ?? join(HERE, 'dist');

/** Folders of the workspaces that come in the package, by their names. */
const CONTAINED: Readonly<Record<string, string>> = {
  testing: 'packages/testing',
  service: 'service',
  checks: 'packages/checks',
  contract: 'packages/contract',
  'embedded-postgres': 'packages/embedded-postgres',
  'media-rules': 'packages/media-rules',
};
const ENTRY = 'packages/testing/src/start-mediary';
/** Makes the bundle of the sources, which the package has no need of. */
const TOOL = 'rolldown';

type Manifest = {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
};

await rm(folder, { recursive: true, force: true });
for (const workspace of Object.values(CONTAINED)) await buildSources(workspace);
for (const files of ['packages/testing/stream', 'service/migrations'])
  await cp(join(ROOT, files), join(folder, files), { recursive: true });
await writeManifests();
await writeBundle();
await writeDeclarations();
await copyFile(join(HERE, 'README.md'), join(folder, 'README.md'));
await copyFile(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));

async function buildSources(workspace: string): Promise<void> {
  for await (const path of glob(`${workspace}/src/**/*.ts`, { cwd: ROOT })) {
    if (/\.(?:test|fixture|contract)\.ts$/.test(path)) continue;
    const target = join(folder, path.replace(/ts$/, 'js'));
    await mkdir(dirname(target), { recursive: true });
    const code = stripTypeScriptTypes(await readFile(join(ROOT, path), 'utf8'));
    await writeFile(target, linkContained(code, path));
  }
}

/** Names of contained packages become paths, and sources JavaScript; also those of workers and programs. */
function linkContained(code: string, path: string): string {
  const names = RegExp(`'@mediary/(${Object.keys(CONTAINED).join('|')})/([^']+)'`, 'g');
  return code
    .replaceAll(names, (_, name: string, module: string) => {
      const to = relative(dirname(path), join(CONTAINED[name] ?? '', 'src', module));
      return `'${to.startsWith('.') ? to : `./${to}`}.js'`;
    })
    .replaceAll(/((?:from |import\(|new URL\()'\.{1,2}\/[^']+)\.ts'/g, "$1.js'");
}

/** The service in one file, from which its sources are still found: workers are sources. */
async function writeBundle(): Promise<void> {
  const bundle = join(folder, 'packages/testing/bundle');
  const program = join(folder, 'packages/testing/src/service-host.program.js');
  await bundleProgram(program, bundle, (name, id) => {
    const place = JSON.stringify(relative(bundle, name === 'dirname' ? dirname(id) : id));
    if (name === 'url') return `new URL(${place}, import.meta.url).href`;
    return `process.getBuiltinModule('node:path').join(import.meta.dirname, ${place})`;
  });
}

/** Of the entry and all that its types name. */
async function writeDeclarations(): Promise<void> {
  const declared = await mkdtemp(join(tmpdir(), 'mediary-testing-types-'));
  try {
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = [
      '--noEmit',
      'false',
      '--noCheck',
      '--declaration',
      '--emitDeclarationOnly',
      '--rootDir',
      ROOT,
    ];
    const args = [tsc, '-p', join(HERE, 'tsconfig.build.json'), ...options, '--outDir', declared];
    await promisify(execFile)(process.execPath, args).catch((error: { readonly stdout: string }) => {
      throw new Error(`tsc failed:\n${error.stdout}`);
    });
    await copyDeclaration(declared, `${ENTRY}.d.ts`);
  } finally {
    await rm(declared, { recursive: true, force: true });
  }
}

async function copyDeclaration(declared: string, path: string): Promise<void> {
  const text = await readFile(join(declared, path), 'utf8');
  await writeFile(join(folder, path), text.replaceAll(/(from '\.[^']+)\.ts'/g, "$1.js'"));
  for (const [, name = ''] of text.matchAll(/from '(\.[^']+)\.ts'/g))
    await copyDeclaration(declared, join(dirname(path), `${name}.d.ts`));
}

/** The packages that the contained ones need are installed with this one. */
async function writeManifests(): Promise<void> {
  const manifests = await Promise.all(
    Object.values(CONTAINED).map(async (workspace) => readManifest(join(ROOT, workspace))),
  );
  const isPublished = ([name]: readonly [string, string]): boolean =>
    name !== TOOL && !(name.startsWith('@mediary/') && name.slice('@mediary/'.length) in CONTAINED);
  const collect = (kind: keyof Manifest) =>
    Object.fromEntries(
      manifests
        .flatMap((each) => Object.entries(each[kind] ?? {}))
        .filter(isPublished)
        .sort(),
    );
  const { private: _private, scripts: _scripts, ...manifest } = await readManifest(HERE);
  // The service reads its version there.
  await writeJson('service/package.json', {
    name: '@mediary/service',
    version: manifest['version'],
    type: 'module',
  });
  const published = {
    ...manifest,
    exports: { '.': { types: `./${ENTRY}.d.ts`, default: `./${ENTRY}.js` } },
    dependencies: collect('dependencies'),
    optionalDependencies: collect('optionalDependencies'),
  };
  await writeJson('package.json', published);
}

async function writeJson(path: string, value: object): Promise<void> {
  await writeFile(join(folder, path), `${JSON.stringify(value, undefined, 2)}\n`);
}

async function readManifest(workspace: string): Promise<Manifest & Readonly<Record<string, unknown>>> {
  return JSON.parse(await readFile(join(workspace, 'package.json'), 'utf8'));
}
