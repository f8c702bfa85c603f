// What `/` answers: the console, or a page of links where it is off.
import type { FastifyInstance } from 'fastify';
import { PAGE_ICON } from './page-icon.ts';

type StartPage = {
  readonly hasConsole: boolean;
  readonly hasDocs: boolean;
  readonly hasGuides: boolean;
  readonly version: string;
};

const POLICY = "default-src 'none'; img-src data:; base-uri 'none'; frame-ancestors 'none'";

export function serveStartPage(app: FastifyInstance, page: StartPage): void {
  app.get('/', async (_request, reply) => {
    if (page.hasConsole) return reply.redirect('console', 302);
    return reply
      .headers({ 'content-security-policy': POLICY, 'cache-control': 'no-cache' })
      .type('text/html; charset=utf-8')
      .send(render(page));
  });
}

function render({ hasDocs, hasGuides, version }: StartPage): string {
  const links = [
    ...(hasGuides ? ['<li><a href="docs/guides/">Guides</a>'] : []),
    ...(hasDocs ? ['<li><a href="docs/">API reference</a>'] : []),
    '<li><a href="api/v1/openapi.json">OpenAPI document</a>',
    '<li><a href="readyz">Health</a>',
  ];
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width">${PAGE_ICON}`;
  return [
    `<!doctype html><html lang="en">${head}<title>Mediary</title>`,
    `<h1>Mediary ${version}</h1><ul>${links.join('')}</ul>`,
  ].join('');
}
