// The pages of the site in their groups, as the tables of docs/README.md list them.
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

export type DocumentPage = {
  /** The document, below the root of the repository. */
  readonly source: string;
  /** The address of the page, below the address of the site. */
  readonly name: string;
  readonly title: string;
  /** One line for lists of pages. */
  readonly summary: string;
  /** Pages that this page lists, such as the decisions. */
  readonly children: readonly DocumentPage[];
};

export type PageGroup = { readonly title: string; readonly pages: readonly DocumentPage[] };

/** Lists all other pages. */
export const HOME: DocumentPage = {
  source: 'docs/README.md',
  name: 'index',
  title: 'Documents',
  summary: 'all documents by question',
  children: [],
};

const TABLE = /^\| (\w+) \| \|\n\|---\|---\|\n((?:\|.*\n)+)/gm;
const ROW = /^\| (.*?) \| (.*?) ?\|$/gm;
const LINK = /\[([^\]]+)\]\(([^)\s#]+\.md)[^)]*\)/g;

export function readPageGroups(root: string): readonly PageGroup[] {
  const index = readFileSync(join(root, HOME.source), 'utf8');
  return Array.from(index.matchAll(TABLE), ([, title = '', rows = '']) => ({
    title,
    pages: Array.from(rows.matchAll(ROW), ([, links = '', description = '']) =>
      readRow(root, links, description),
    ).flat(),
  }));
}

/** The first cell of a row links to the pages; the second describes them. */
function readRow(root: string, links: string, description: string): readonly DocumentPage[] {
  return Array.from(links.matchAll(LINK), ([, text = '', target = '']) => {
    const source = posix.join('docs', target);
    const title = text[0]?.toUpperCase() + text.slice(1);
    const summary = toPlainText(description) || readFirstSentence(root, source);
    return { source, name: toName(source, title), title, summary, children: readChildren(root, source) };
  });
}

/** `docs/decisions/README.md` lists the documents beside it. The first link to one has its title. */
function readChildren(root: string, source: string): readonly DocumentPage[] {
  if (!/^docs\/.+\/README\.md$/.test(source)) return [];
  const text = readFileSync(join(root, source), 'utf8');
  const titles = new Map<string, string>();
  for (const [, title = '', target = ''] of text.matchAll(LINK))
    if (!target.includes('/') && !titles.has(target)) titles.set(target, title);
  return Array.from(titles, ([target, title]) => {
    const child = posix.join(posix.dirname(source), target);
    const summary = readFirstSentence(root, child);
    return { source: child, name: toName(child, title), title, summary, children: [] };
  });
}

/** A document of docs/ keeps its name; others, which are all called README, get that of their title. */
function toName(source: string, title: string): string {
  const own = /^docs\/(?:guides\/)?(.+?)(?:\/README)?\.md$/.exec(source)?.[1];
  return own ?? title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

/** Of the first paragraph. */
export function readFirstSentence(root: string, source: string): string {
  const text = readFileSync(join(root, source), 'utf8');
  const [paragraph = ''] = /^(?![#<|]).+\n(?:.+\n)*/m.exec(text) ?? [];
  return /^.*?\.(?=\s|$)/.exec(toPlainText(paragraph))?.[0] ?? toPlainText(paragraph);
}

const toPlainText = (markdown: string): string =>
  markdown.replaceAll(LINK, '$1').replaceAll('**Decision.**', '').replace(/\s+/g, ' ').trim();

export const listPages = (groups: readonly PageGroup[]): readonly DocumentPage[] => [
  HOME,
  ...groups.flatMap(({ pages }) => pages.flatMap((page) => [page, ...page.children])),
];
