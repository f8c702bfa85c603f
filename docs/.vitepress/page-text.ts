// The text of a page: its document, with links to other pages of the site.
import { posix } from 'node:path';
import type { DocumentPage } from './pages.ts';

type PageText = {
  readonly text: string;
  /** Pictures of the page, below the root of the repository. */
  readonly images: readonly string[];
};

const CODE_BLOCK = /(^ *```[\s\S]*?^ *```$)/m;
const COMMENT = /^<!--.*-->\n/gm;
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?![a-z]+:)([^)\s#]+)(#[^)\s]*)?\)/g;

/** `pages` by document. A link to a file without a page becomes its path, because readers may not have it. */
export function renderPageText(
  document: string,
  page: DocumentPage,
  pages: ReadonlyMap<string, DocumentPage>,
): PageText {
  const images: string[] = [];
  const toSite = (_link: string, ...[mark, text, target, anchor = '']: string[]): string => {
    const source = posix.join(posix.dirname(page.source), target ?? '');
    const linked = pages.get(source);
    if (linked) return `[${text}](${toRelative(page, `${linked.name}.md`)}${anchor})`;
    if (!mark) return toPath(text ?? '', source);
    images.push(source);
    return `![${text}](${toRelative(page, posix.basename(source))})`;
  };
  // Every second part is a code block, which stays as it is.
  const parts = document
    .split(CODE_BLOCK)
    .map((part, index) => (index % 2 === 1 ? part : part.replaceAll(COMMENT, '').replaceAll(LINK, toSite)));
  return { text: parts.join(''), images };
}

const toRelative = ({ name }: DocumentPage, path: string): string =>
  `./${posix.relative(posix.dirname(name), path)}`;

const toPath = (text: string, source: string): string =>
  text.replaceAll('`', '') === source ? `\`${source}\`` : `${text} (\`${source}\`)`;

/** Blocks with labels, such as `sh [curl]`, one after the other. */
const TABS = /(?:^```\w+ \[[^\]\n]+\]\n(?:(?!```).*\n)*```\n(?:\n(?=```\w+ \[))?){2,}/gm;

/** Blocks with labels become tabs. The documents have no marks for it, because GitHub would show them. */
export const toCodeGroups = (text: string): string =>
  text.replaceAll(TABS, (tabs) => `::: code-group\n\n${tabs}\n:::\n`);

/** The anchor of a heading, as GitHub makes it: links work there and on the site. */
export const toAnchor = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
