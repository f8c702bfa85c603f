// Makes a release: writes the version, dates the changelog, and packs what is published into a folder.
// `npm run release -- 0.2.0 [--dry-run] [--to release]`; with `--dry-run` only the folder is written.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { checkVersion, releaseChangelog, sectionOf, setVersions } from './next-release.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Each has a `build.ts` that writes the package into the folder of its argument. */
const PUBLISHED = ['client', 'elements', 'cli', 'mcp', 'testing'];
/**
 * Workspaces whose packages a user runs, in the service or in a browser. Their tools are listed too: npm's
 * `--omit dev` leaves out every package that is a tool of another workspace.
 */
const SHIPPED = ['service', 'console', 'docs', 'packages/elements', 'packages/cli', 'packages/mcp'];
/** Manifests of the repository, whose versions are the same. */
const MANIFESTS = [
  'package.json',
  'package-lock.json',
  '{service,console,docs}/package.json',
  '{packages,examples}/*/package.json',
];
/** Files that name the version outside a manifest. */
const TEXTS = ['deploy/Dockerfile', 'deploy/compose*.yaml', 'deploy/helm/mediary/Chart.yaml'];

type Options = { readonly isDryRun: boolean; readonly folder: string };
type Edit = { readonly path: string; readonly text: string };

async function release(version: string, { isDryRun, folder }: Options): Promise<void> {
  if (!isDryRun) await expectCleanTree();
  const edits = await planEdits(version);
  const changelog = edits.find(({ path }) => path === 'CHANGELOG.md')?.text ?? '';
  await pack(folder, version, sectionOf(changelog, version));
  if (!isDryRun) for (const { path, text } of edits) await writeFile(join(ROOT, path), text);
  print(isDryRun ? 'Nothing else was changed. A release would change:' : 'Changed:');
  for (const { path } of edits) print(`  ${path}`);
  if (!isDryRun)
    print(
      `\nNext:
  git commit -am "chore: release ${version}" && git tag v${version}
  npm publish ${folder}/<file>.tgz`,
    );
}

const print = (line: string) => process.stdout.write(`${line}\n`);

async function run(program: string, ...args: readonly string[]): Promise<string> {
  const options = { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 };
  return (await promisify(execFile)(program, [...args], options)).stdout;
}

async function expectCleanTree(): Promise<void> {
  const changed = await run('git', 'status', '--porcelain');
  if (changed !== '') throw new Error(`Commit or remove these changes first:\n${changed.trimEnd()}`);
}

async function planEdits(version: string): Promise<readonly Edit[]> {
  const { version: current } = JSON.parse(await readText('package.json')) as { version: string };
  const date = new Date().toISOString().slice(0, 10);
  const edits: Edit[] = [];
  const edit = async (path: string, change: (text: string) => string): Promise<void> => {
    const before = await readText(path);
    const text = change(before);
    if (text !== before) edits.push({ path, text });
  };
  await edit('CHANGELOG.md', (text) => releaseChangelog(text, { version, date }));
  for await (const path of glob(MANIFESTS, { cwd: ROOT }))
    await edit(path, (text) => setVersions(text, current, version));
  for await (const path of glob(TEXTS, { cwd: ROOT }))
    await edit(path, (text) => text.replaceAll(current, version));
  return edits;
}

const readText = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8');

/** Tarballs, what changed, the packages that the service consists of, and the SHA-256 of all of them. */
async function pack(folder: string, version: string, changes: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  for (const name of PUBLISHED) await packPackage(folder, name, version);
  await writeFile(join(folder, 'CHANGES.md'), `${changes}\n`);
  const workspaces = SHIPPED.flatMap((name) => ['--workspace', name]);
  const sbom = await run('npm', 'sbom', '--sbom-format', 'cyclonedx', ...workspaces);
  await writeFile(join(folder, 'sbom.cdx.json'), sbom);
  const sums: string[] = [];
  for await (const name of glob('*', { cwd: folder })) {
    const sha256 = createHash('sha256').update(await readFile(join(folder, name)));
    sums.push(`${sha256.digest('hex')}  ${name}`);
  }
  await writeFile(join(folder, 'SHA256SUMS'), `${sums.sort().join('\n')}\n`);
  print(`${folder}:\n${sums.map((line) => `  ${line}`).join('\n')}`);
}

async function packPackage(folder: string, name: string, version: string): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'mediary-release-'));
  const built = join(parent, name);
  try {
    await run(process.execPath, join(ROOT, `packages/${name}/build.ts`), built);
    const { version: current } = JSON.parse(await readFile(join(built, 'package.json'), 'utf8')) as {
      version: string;
    };
    for await (const path of glob('**/package.json', { cwd: built })) {
      const file = join(built, path);
      await writeFile(file, setVersions(await readFile(file, 'utf8'), current, version));
    }
    await run('npm', 'pack', built, '--pack-destination', folder);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: {
    'dry-run': { type: 'boolean', default: false },
    to: { type: 'string', default: join(ROOT, 'release') },
  },
  allowPositionals: true,
});

try {
  await release(checkVersion(positionals[0]), { isDryRun: values['dry-run'], folder: resolve(values.to) });
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
