// The site of the documents: `npm run docs:build` writes it to .vitepress/dist, and the service serves it.
// `npm ci` does not build it: it would take twice as long. Images of the service contain it.
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';
import { BASE, renderLlmsText } from './llms-text.ts';
import { renderPageText, toAnchor, toCodeGroups } from './page-text.ts';
import { type DocumentPage, listPages, readFirstSentence, readPageGroups } from './pages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGES = join(ROOT, 'docs/.vitepress/pages');
const SUMMARY = readFirstSentence(ROOT, 'README.md');

const groups = readPageGroups(ROOT);
const pages = listPages(groups);
const imageNames = await writePages();

/** VitePress reads pages of one folder, with links inside it; the documents lie all over the repository. */
async function writePages(): Promise<readonly string[]> {
  await rm(PAGES, { recursive: true, force: true });
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const images = await Promise.all(
    pages.map(async (page) => {
      const document = await readFile(join(ROOT, page.source), 'utf8');
      const rendered = renderPageText(document, page, bySource);
      await writeText(join(PAGES, `${page.name}.md`), rendered.text);
      return rendered.images;
    }),
  );
  for (const image of images.flat()) await copyFile(join(ROOT, image), join(PAGES, basename(image)));
  await mkdir(join(PAGES, 'public'));
  await copyFile(join(ROOT, 'docs/.vitepress/icon.svg'), join(PAGES, 'public/icon.svg'));
  return images.flat().map((image) => basename(image));
}

/** What assistants read: each page as Markdown, and the list of them. */
async function writeTexts(folder: string): Promise<void> {
  const names = [...pages.map(({ name }) => `${name}.md`), ...imageNames];
  for (const name of names) await copyFile(join(PAGES, name), join(folder, name));
  await writeText(join(folder, 'llms.txt'), renderLlmsText(groups, SUMMARY));
}

async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

const toItem = ({ title, name, children }: DocumentPage): DefaultTheme.SidebarItem => ({
  text: title,
  link: `/${name}`,
  ...(children.length > 0 && { collapsed: true, items: children.map(toItem) }),
});

const summaryOf = (path: string): string =>
  pages.find(({ name }) => path === `${name}.md`)?.summary.replaceAll('`', '') ?? SUMMARY;

export default defineConfig({
  title: 'Mediary',
  description: SUMMARY,
  lang: 'en',
  base: BASE,
  srcDir: '.vitepress/pages',
  assetsDir: 'files',
  // While it switches colours, it would add a style that the policy of the service refuses.
  appearance: { disableTransition: false },
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  // One script file instead of an inline script in each page.
  metaChunk: true,
  head: [['link', { rel: 'icon', href: `${BASE}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    // Comments in the colours of the default themes are hard to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: toAnchor },
    // Braces of addresses such as `/media/{id}` are no attributes.
    attrs: { disable: true },
    languageAlias: { dotenv: 'ini' },
    config: (parser) => {
      parser.core.ruler.before('normalize', 'code-groups', (state) => {
        state.src = toCodeGroups(state.src);
      });
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    outline: [2, 3],
    notFound: {
      title: 'No such page',
      quote: 'The search and the list of all documents lead to it.',
      linkText: 'All documents',
    },
    search: { provider: 'local' },
    sidebar: groups.map(({ title, pages: listed }) => ({ text: title, items: listed.map(toItem) })),
  },
  transformPageData: ({ relativePath, frontmatter }) => ({
    description: summaryOf(relativePath),
    frontmatter: { ...frontmatter, ...(/^reference[./]/.test(relativePath) && { pageClass: 'reference' }) },
  }),
  transformHead: ({ page }) =>
    page === '404.md' ? [] : [['link', { rel: 'alternate', type: 'text/markdown', href: `${BASE}${page}` }]],
  buildEnd: ({ outDir }) => writeTexts(outDir),
});
