// Serves the console below `/console`: one page for all its addresses, and the files that the page loads.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createLazyValue } from '../../concurrency/lazy-value.ts';
import { basePathOf, FOREVER, PAGE_HEADERS, prepareFolder, sendPrepared } from './prepared-content.ts';

const BUILT = join(import.meta.dirname, '../../../../../console/dist');

export type ConsolePages = {
  readonly publicBaseUrl: () => string;
  readonly hasSessionCookie: (headers: FastifyRequest['headers']) => boolean;
  /** Of what the page loads and sends elsewhere. */
  readonly findOrigins: () => Promise<readonly string[]>;
};

export function serveConsole(app: FastifyInstance, pages: ConsolePages): void {
  const getFiles = createLazyValue(() => prepareFolder(join(BUILT, 'files')));
  const readPage = createLazyValue(() => readFile(join(BUILT, 'index.html'), 'utf8'));
  const sendPage = async ({ headers }: FastifyRequest, reply: FastifyReply) => {
    const html = await readPage().catch(() => undefined);
    if (html === undefined) return reply.code(503).type('text/html; charset=utf-8').send(NOT_BUILT);
    const nonce = randomBytes(NONCE_BYTES).toString('base64');
    const policy = renderPolicy(nonce, await pages.findOrigins());
    const head = {
      base: `${basePathOf(pages.publicBaseUrl())}/console/`,
      nonce,
      hasSession: pages.hasSessionCookie(headers),
    };
    return reply
      .headers({ 'content-security-policy': policy, 'cache-control': 'no-store' })
      .headers(PAGE_HEADERS)
      .type('text/html; charset=utf-8')
      .send(addHead(html, head));
  };
  for (const path of ['/console', '/console/', '/console/*']) app.get(path, sendPage);
  app.get<{ Params: { name: string } }>('/console/files/:name', async (request, reply) => {
    const file = (await getFiles()).get(request.params.name);
    if (!file) return sendPage(request, reply);
    return sendPrepared({ request, reply: reply.header('cache-control', FOREVER) }, file);
  });
}

const NONCE_BYTES = 16;

const NOT_BUILT =
  '<!doctype html><title>Mediary</title><p>The console is not built. ' +
  'Run <code>npm run build -w console</code>.';

/** All addresses of the console load the same page, whose URLs are relative to its base. */
const addHead = (html: string, { base, nonce, hasSession }: PageHead): string => {
  const session = hasSession ? '<meta name="mediary-session" content="open">' : '';
  return html.replace(
    '<head>',
    `<head><base href="${base}"><meta property="csp-nonce" nonce="${nonce}">${session}`,
  );
};

type PageHead = { readonly base: string; readonly nonce: string; readonly hasSession: boolean };

/** The page loads scripts and styles from this service alone, and no other page may frame it. */
const renderPolicy = (nonce: string, origins: readonly string[]): string => {
  const others = origins.map((origin) => ` ${origin}`).join('');
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data: blob:${others}`,
    `media-src 'self' blob:${others}`,
    `connect-src 'self'${others}`,
    "worker-src 'self' blob:",
    "frame-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
};
