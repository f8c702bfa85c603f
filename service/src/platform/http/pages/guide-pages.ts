// Serves the documents as a site below `/docs/guides`, and their list for assistants at `/llms.txt`.
import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createLazyValue } from '../../concurrency/lazy-value.ts';
import { notFound } from '../errors.ts';
import {
  basePathOf,
  FOREVER,
  PAGE_HEADERS,
  type PreparedContent,
  prepareContent,
  sendPrepared,
  typeOf,
} from './prepared-content.ts';

/** `npm run docs:build` writes it. */
const BUILT = join(import.meta.dirname, '../../../../../docs/.vitepress/dist');
/** The site is built for this address. */
const BASE = '/docs/guides/';

export type GuideSite = {
  /** Files by their path below the folder. Each is prepared with its first request. */
  readonly files: ReadonlyMap<string, () => Promise<SiteFile>>;
  readonly isBuilt: boolean;
};

type SiteFile = { readonly content: PreparedContent; readonly headers: Readonly<Record<string, string>> };

type SiteOptions = {
  /** Default: the folder that the build writes. */
  readonly folder?: string | undefined;
  readonly publicBaseUrl: () => string;
};

/** Lists the files once: only these names are served. */
export async function openGuideSite({ folder = BUILT, publicBaseUrl }: SiteOptions): Promise<GuideSite> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const toFile = (name: string) =>
    createLazyValue(async () =>
      prepareFile(name, relocate(await readFile(join(folder, name)), name, publicBaseUrl())),
    );
  const files = new Map(names.map((name) => [name, toFile(name)]));
  return { files, isBuilt: files.has(INDEX) };
}

const INDEX = 'index.html';

/** PUBLIC_BASE_URL may have a path. Assistants read the list of pages without its address. */
function relocate(content: Buffer, name: string, publicBaseUrl: string): Buffer | string {
  if (name === LIST) return content.toString().replaceAll('](/', `](${publicBaseUrl}/`);
  const path = basePathOf(publicBaseUrl);
  if (path === '' || !/\.(?:html|js|css)$/.test(name)) return content;
  return content.toString().replaceAll(BASE, `${path}${BASE}`);
}

const LIST = 'llms.txt';

async function prepareFile(name: string, content: Buffer | string): Promise<SiteFile> {
  const isPage = name.endsWith('.html');
  return {
    content: await prepareContent(typeOf(name), content),
    headers: {
      'cache-control': name.startsWith('files/') ? FOREVER : 'public, no-cache',
      ...(isPage && { 'content-security-policy': renderPolicy(content.toString()), ...PAGE_HEADERS }),
    },
  };
}

/** Scripts between tags are allowed by their hashes; colours of code are attributes of its words. */
const renderPolicy = (html: string): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...hashScripts(html)].join(' '),
    "style-src 'self'",
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

const hashScripts = (html: string): readonly string[] =>
  Array.from(
    html.matchAll(INLINE_SCRIPT),
    ([, script = '']) => `'sha256-${hash('sha256', script, 'base64')}'`,
  );

export function serveGuides(app: FastifyInstance, site: GuideSite): void {
  const send = async (call: SiteCall, name: string) => {
    const file = site.files.get(name) ?? site.files.get(`${name}.html`);
    return file ? sendFile(call, await file()) : sendMissing(call, site);
  };
  app.get('/docs/guides', async (_request, reply) => reply.redirect('guides/', 302));
  app.get('/docs/guides/', async (request, reply) => send({ request, reply }, INDEX));
  app.get<{ Params: { '*': string } }>('/docs/guides/*', async (request, reply) =>
    send({ request, reply }, request.params['*']),
  );
  app.get('/llms.txt', async (request, reply) => send({ request, reply }, LIST));
}

type SiteCall = { readonly request: FastifyRequest; readonly reply: FastifyReply };

const sendFile = ({ request, reply }: SiteCall, { content, headers }: SiteFile): unknown =>
  sendPrepared({ request, reply: reply.headers(headers) }, content);

/** Browsers get a page with the search for an old link; programs get the envelope. */
async function sendMissing({ request, reply }: SiteCall, { files, isBuilt }: GuideSite): Promise<unknown> {
  if (!isBuilt) throw notFound('The guides are not built. Run npm run docs:build and restart the service.');
  const page = request.headers.accept?.includes('text/html') ? await files.get(MISSING)?.() : undefined;
  if (!page) throw notFound('No such page. GET /llms.txt lists all pages.');
  const { type, bodies } = page.content;
  return reply.code(404).headers(page.headers).type(type).send(bodies.identity);
}

const MISSING = '404.html';
