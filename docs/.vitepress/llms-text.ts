// `/llms.txt`, the list of all pages for assistants (https://llmstxt.org).
import { type DocumentPage, HOME, type PageGroup } from './pages.ts';

/** The service serves the pages below this address, each also as Markdown with the suffix `.md`. */
export const BASE = '/docs/guides/';

/** The service puts its own address in front of the links. */
export function renderLlmsText(groups: readonly PageGroup[], summary: string): string {
  const sections = groups.map(({ title, pages }) => renderSection(title, pages.map(renderLine)));
  const children = groups.flatMap(({ pages }) => pages.flatMap((page) => page.children));
  return [
    '# Mediary\n',
    `> ${summary}\n`,
    'Every page of the documentation is Markdown at these addresses; without `.md` it is a page for people.',
    `The OpenAPI document describes every operation of the API.\n`,
    ...sections,
    renderSection('API', [
      '- [OpenAPI document](/api/v1/openapi.json): all operations, schemas and errors, as OpenAPI 3.1',
      renderLine(HOME),
    ]),
    renderSection('Optional', children.map(renderLine)),
  ].join('\n');
}

const renderSection = (title: string, lines: readonly string[]): string =>
  [`## ${title}\n`, ...lines, ''].join('\n');

const renderLine = ({ title, name, summary }: DocumentPage): string =>
  `- [${title}](${BASE}${name}.md): ${summary}`;
