// Every document is a page of the site, in one group of its sidebar and in /llms.txt, and links stay inside.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';
import { BASE, renderLlmsText } from '../docs/.vitepress/llms-text.ts';
import { renderPageText, toCodeGroups } from '../docs/.vitepress/page-text.ts';
import { listPages, readPageGroups } from '../docs/.vitepress/pages.ts';

const ROOT = join(import.meta.dirname, '..');
const groups = readPageGroups(ROOT);
const pages = listPages(groups);
const bySource = new Map(pages.map((page) => [page.source, page]));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const textOf = (source: string): string => {
  const page = bySource.get(source);
  if (!page) throw new Error(`${source} is no page`);
  return renderPageText(read(source), page, bySource).text;
};

test('the groups are in the order in which a reader meets them', () => {
  expect(groups.map(({ title }) => title)).toEqual([
    'Start',
    'Upload',
    'Play',
    'Images',
    'Events',
    'Operate',
    'Extend',
    'Reference',
  ]);
});

test('every document is in one group, under an address of its own', () => {
  const documents = globSync('docs/**/*.md', { cwd: ROOT, exclude: ['**/node_modules/**'] });
  expect(pages.map(({ source }) => source)).toEqual(expect.arrayContaining(documents));
  expect(new Set(pages.map(({ name }) => name)).size).toBe(pages.length);
  expect(pages.filter(({ source }) => !existsSync(join(ROOT, source)))).toEqual([]);
});

test('a guide is a page below the site, without the name of its folder', () => {
  expect(bySource.get('docs/guides/captions.md')).toMatchObject({ name: 'captions', title: 'Captions' });
  expect(bySource.get('packages/cli/README.md')).toMatchObject({ name: 'command-line' });
  expect(bySource.get('docs/decisions/0002-one-writer-of-state.md')?.name).toMatch(/^decisions\/0002-/);
});

test('/llms.txt lists every page in one line that describes it', () => {
  const text = renderLlmsText(groups, 'A media service.');
  expect(text).toMatch(/^# Mediary\n\n> A media service\.\n\n/);
  const listed = Array.from(text.matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S.{5,}$/gm), ([, link]) => link);
  const expected = pages.map(({ name }) => `${BASE}${name}.md`);
  expect(listed.sort()).toEqual([...expected, '/api/v1/openapi.json'].sort());
});

test('links of a page lead to other pages, also in the Markdown that assistants read', () => {
  const names = new Set(pages.map(({ name }) => `${name}.md`));
  const broken = pages.flatMap(({ source, name }) =>
    Array.from(textOf(source).matchAll(/[^!]\[[^\]]*\]\((?![a-z]+:|#)([^)#]+)/g), ([, link = '']) =>
      posix.join(posix.dirname(name), link),
    ).filter((target) => !names.has(target)),
  );
  expect(broken).toEqual([]);
});

test('blocks with labels become tabs on the site alone', () => {
  const block = (label: string) => `\`\`\`sh [${label}]\necho\n\n\`\`\``;
  const tabs = `${block('curl')}\n\n${block('wget')}\n`;
  const text = `a\n\n${tabs}\nb\n\n\`\`\`sh\necho\n\`\`\`\n\n${block('alone')}\n`;
  expect(toCodeGroups(text)).toBe(text.replace(tabs, `::: code-group\n\n${tabs}\n:::\n`));
  expect(textOf('docs/reference/captions.md')).not.toContain(':::');
});

test('a file without a page is shown by its path, and code stays as it is', () => {
  const page = { source: 'docs/guides/a.md', name: 'a', title: 'A', summary: '', children: [] };
  const document = [
    '<!-- file: a.ts -->',
    '[the file](../../deploy/nginx.conf), [`deploy/x.ts`](../../deploy/x.ts#top), [b](../b/c.md#d)',
    '![a picture](../console.webp) [here](#a) [there](https://example.com)',
    '```md',
    '<!-- a comment -->',
    '[b](../b/c.md)',
    '```',
  ];
  const other = { ...page, source: 'docs/b/c.md', name: 'b/c' };
  const rendered = renderPageText(document.join('\n'), page, new Map([[other.source, other]]));
  expect(rendered).toEqual({
    text: [
      'the file (`deploy/nginx.conf`), `deploy/x.ts`, [b](./b/c.md#d)',
      '![a picture](./console.webp) [here](#a) [there](https://example.com)',
      ...document.slice(3),
    ].join('\n'),
    images: ['docs/console.webp'],
  });
});
