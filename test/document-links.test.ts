// Links between the documents lead to files and headings that exist, and every document is linked to.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { toAnchor } from '../docs/.vitepress/page-text.ts';

const ROOT = join(import.meta.dirname, '..');
const PATTERNS = ['*.md', 'docs/**/*.md', '{packages,examples,deploy,service}/**/*.md'];
const documents = globSync(PATTERNS, { cwd: ROOT, exclude: ['**/node_modules/**', '**/dist/**'] });
const textOf = (path: string): string =>
  readFileSync(join(ROOT, path), 'utf8').replace(/```[\s\S]*?```/g, '');

type Link = {
  readonly from: string;
  readonly target: string;
  readonly file: string;
  readonly anchor: string;
};

const links: readonly Link[] = documents.flatMap((from) =>
  Array.from(
    textOf(from).matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)/g),
    ([, path = '', anchor = '']) => ({
      from,
      target: `${path}#${anchor}`,
      file: path === '' ? from : relative(ROOT, join(ROOT, dirname(from), path)),
      anchor,
    }),
  ),
);

/** Headings, and places that generated pages name. */
const anchorsOf = (text: string): readonly string[] => [
  ...Array.from(text.matchAll(/^#+ (.+)$/gm), ([, heading = '']) => toAnchor(heading)),
  ...Array.from(text.matchAll(/^<a id="(\w+)"><\/a>$/gm), ([, id = '']) => id),
];

const hasAnchor = ({ file, anchor }: Link): boolean => anchorsOf(textOf(file)).includes(anchor);

test('links lead to files that exist', () => {
  expect(links.length).toBeGreaterThan(100);
  const broken = links.filter(({ file }) => !existsSync(join(ROOT, file)));
  expect(broken.map(({ from, target }) => `${from}: ${target}`)).toEqual([]);
});

test('links lead to headings that exist', () => {
  const broken = links.filter((link) => link.anchor !== '' && link.file.endsWith('.md') && !hasAnchor(link));
  expect(broken.map(({ from, target }) => `${from}: ${target}`)).toEqual([]);
});

test('the index of the documents links to all guides', () => {
  const linked = new Set(links.filter(({ from }) => from === 'docs/README.md').map(({ file }) => file));
  const guides = documents.filter((path) => path.startsWith('docs/guides/'));
  expect(guides.filter((path) => !linked.has(path))).toEqual([]);
});

test('pages of the contract are short', () => {
  const pages = documents.filter((path) => path.startsWith('docs/contract/'));
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((path) => textOf(path).split('\n').length > 120)).toEqual([]);
});

test('sentences of the contract and of the reference are short', () => {
  const pages = documents.filter((path) => /^docs\/(?:contract|reference)\//.test(path));
  const sentences = pages.flatMap((path) => toSentences(textOf(path)));
  const long = sentences.filter((sentence) => sentence.split(/\s+/).length > 25);
  expect([...new Set(long)]).toEqual([]);
});

/** Code is one word, and a cell of a table is a text of its own. */
const toSentences = (text: string): readonly string[] =>
  text
    .replace(/`[^`\n]*`/g, 'code')
    .split(/\n|\|/)
    .flatMap((line) => line.split(/(?<=[.!?])\s+/));

test('the README is read in a few minutes', () => {
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(150);
});
