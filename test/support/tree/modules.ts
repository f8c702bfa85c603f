// Parses every source file of the repository: its exports, imports and functions.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAst } from 'vitest/node';

/** `names`: the imported names, `*` for all exports. `values`: those that are more than types. */
type ModuleImport = {
  readonly target: string;
  /** The path of the imported file below the root, or the name of a package. */
  readonly path: string;
  readonly names: readonly string[];
  readonly values: readonly string[];
};
/** `lines`: without blank ones. */
type SourceFunction = { readonly line: number; readonly lines: number };
export type SourceModule = {
  readonly path: string;
  readonly text: string;
  readonly exports: readonly string[];
  readonly reExports: readonly string[];
  readonly imports: readonly ModuleImport[];
  readonly functions: readonly SourceFunction[];
  readonly identifiers: ReadonlySet<string>;
};
type Node = Readonly<Record<string, unknown>> & {
  readonly type: string;
  readonly start: number;
  readonly end: number;
};

const ROOT = join(import.meta.dirname, '../../..');
const PATTERNS = [
  '{service,packages,simulators,deploy,test,bench}/**/*.{ts,js}',
  'docs/.vitepress/*.ts',
  '*.ts',
  '.ci/*.js',
];

export const modules: readonly SourceModule[] = PATTERNS.flatMap((pattern) =>
  globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules', '**/dist'] }),
)
  .sort()
  .map((path) => parseModule(path, readFileSync(join(ROOT, path), 'utf8')));

export function parseModule(path: string, text: string): SourceModule {
  const program: unknown = parseAst(text, { lang: path.endsWith('.ts') ? 'ts' : 'js' });
  const nodes = [...walk(program)];
  return {
    path,
    text,
    exports: nodes.flatMap(getExportedNames),
    reExports: nodes.filter(({ type }) => type.startsWith('Export')).flatMap(getSource),
    imports: nodes.flatMap((node) => getImports(node, path)),
    functions: getFunctions(nodes, text),
    identifiers: new Set(nodes.filter(({ type }) => type === 'Identifier').map(getName)),
  };
}

function* walk(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* walk(item);
  if (!isNode(value)) return;
  yield value;
  for (const child of Object.values(value)) yield* walk(child);
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function nodesOf(value: unknown): readonly Node[] {
  return [value].flat().filter(isNode);
}

function getName(node: Node): string {
  return String(node['name'] ?? node['value']);
}

function getSource({ source }: Node): string[] {
  return nodesOf(source).flatMap(({ value }) => (typeof value === 'string' ? [value] : []));
}

function getExportedNames(node: Node): string[] {
  if (node.type === 'ExportDefaultDeclaration') return ['default'];
  if (node.type !== 'ExportNamedDeclaration') return [];
  const declared = nodesOf(node['declaration']).flatMap((declaration) => [
    ...nodesOf(declaration['id']),
    ...nodesOf(declaration['declarations']).flatMap(({ id }) => nodesOf(id)),
  ]);
  const specified = nodesOf(node['specifiers']).flatMap(({ exported }) => nodesOf(exported));
  return [...declared.flatMap(getBoundNames), ...specified.map(getName)];
}

function getBoundNames(pattern: Node): string[] {
  if (pattern.type === 'Identifier') return [getName(pattern)];
  const parts = [pattern['elements'], pattern['properties'], pattern['value'], pattern['argument']];
  return parts.flatMap(nodesOf).flatMap(getBoundNames);
}

function getImports(node: Node, path: string): ModuleImport[] {
  if (node.type === 'ImportDeclaration') {
    const names = nodesOf(node['specifiers']);
    const values = names.filter((name) => name['importKind'] !== 'type' && node['importKind'] !== 'type');
    return toImports(getSource(node), path, [names.map(getImportedName), values.map(getImportedName)]);
  }
  if (node.type === 'ExportNamedDeclaration' && nodesOf(node['source']).length > 0) {
    const names = nodesOf(node['specifiers']).flatMap(({ local }) => nodesOf(local).map(getName));
    return toImports(getSource(node), path, [names, names]);
  }
  if (node.type === 'TSImportType')
    return toImports(getSource(node), path, [nodesOf(node['qualifier']).map(getName), []]);
  if (node.type === 'ImportExpression') return toImports(getSource(node), path, [['*'], ['*']]);
  const [argument] = nodesOf(node['arguments']);
  const called = nodesOf(node['callee']).map(getName).join();
  const loaded = called === 'require' || called === 'URL' ? getSource({ ...node, source: argument }) : [];
  // A module by name, or a worker's script: new URL('./picture.worker.ts', import.meta.url).
  const files = loaded.filter((target) => called === 'require' || target.endsWith('.ts'));
  return toImports(files, path, [[], ['*']]);
}

function getImportedName({ type, imported }: Node): string {
  return type === 'ImportDefaultSpecifier' ? 'default' : (nodesOf(imported).map(getName)[0] ?? '*');
}

function toImports(
  targets: readonly string[],
  path: string,
  [names, values]: readonly [names: readonly string[], values: readonly string[]],
): ModuleImport[] {
  return targets.map((target) => ({
    target,
    path: target.startsWith('.')
      ? join(dirname(path), target)
      : target
          .replace(/^@mediary\/service\/(.+)$/, 'service/src/$1.ts')
          .replace(/^@mediary\/([^/]+)\/(.+)$/, 'packages/$1/src/$2.ts'),
    names,
    values,
  }));
}

/** The functions that hold suites of tests are left out. */
function getFunctions(nodes: readonly Node[], text: string): SourceFunction[] {
  const suites = nodes.filter(
    ({ type, start }) => type === 'CallExpression' && text.startsWith('describe', start),
  );
  const inSuites = new Set(suites.flatMap((suite) => nodesOf(suite['arguments'])).map(({ start }) => start));
  return nodes
    .filter(({ type, start }) => /^(?:Arrow)?Function(?:Expr|Decl)/.test(type) && !inSuites.has(start))
    .map(({ start, end }) => ({
      line: text.slice(0, start).split('\n').length,
      lines: text.slice(start, end).split('\n').filter(Boolean).length,
    }));
}
