// A page with two uploaders on another origin than the service: one asks the back end of the page, React
// renders one with a token. Its policy allows no inline script, no inline style and no address but these.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createMediary } from '@mediary/client';
import { createUploadHandler } from '@mediary/client/server';
import { rolldown } from 'rolldown';
import { SECRETS, type TestService } from '../../support/service.ts';

const ROOT = join(import.meta.dirname, '../../..');

const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1"><title>Uploads</title>
<link rel="icon" href="/icon"><script type="module" src="/page.js"></script>
<main><h1>Uploads</h1>
<mediary-uploader id="back-end" endpoint="/uploads?album=7"></mediary-uploader>
<div id="react"></div></main>`;

/** Listens before the service is there, because the service has to allow its origin. */
export async function serveUploaderPage(): Promise<UploaderPage> {
  const code = await buildPage();
  let service: TestService | undefined;
  const server = createServer(async (request, response) => {
    const { url = '', method = 'GET' } = request;
    if (url.startsWith('/uploads')) {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const answered = await answerUpload(
        service,
        new Request(new URL(url, origin), {
          method,
          headers: { 'content-type': request.headers['content-type'] ?? '' },
          ...(method === 'POST' && { body: Buffer.concat(chunks) }),
        }),
      );
      response.writeHead(answered.status, { 'content-type': 'application/json' }).end(await answered.text());
      return;
    }
    const script = code.get(url);
    response.setHeader('content-type', script === undefined ? 'text/html' : 'text/javascript');
    response.setHeader('content-security-policy', toPolicy(service, url));
    response.end(script ?? (/^\/(?:player)?$/.test(url) ? PAGE : ''));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    connect: (started) => {
      service = started;
    },
    close: () => close(server),
  };
}

type UploaderPage = {
  readonly origin: string;
  readonly connect: (service: TestService) => void;
  readonly close: () => Promise<void>;
};

/** The controls of the player write HTML without a trusted type. */
const toPolicy = (service: TestService | undefined, url: string): string =>
  `default-src 'none'; script-src 'self'; img-src 'self' ${service?.address}; ` +
  `connect-src 'self' ${service?.address}; style-src 'self'` +
  (url === '/player' ? '' : "; require-trusted-types-for 'script'");

/** The back end of the page, with the user of its session. */
async function answerUpload(service: TestService | undefined, request: Request): Promise<Response> {
  const mediary = createMediary({ baseUrl: `${service?.address}`, serviceKey: SECRETS.SERVICE_API_KEY });
  return createUploadHandler({ mediary, findOwner: () => 'ann' })(request);
}

/** The element as HTML has it, and the React components. Not in a file, because its types are a browser's. */
const SCRIPT = `
  import { createElement } from 'react';
  import { createRoot } from 'react-dom/client';
  import '@mediary/elements/uploader';
  import { MediaryPlayer, MediaryUploader } from '@mediary/elements/react';
  let root;
  const page = {
    ready: [],
    render: (name, props) => {
      root ??= createRoot(document.querySelector('#react'));
      const component = { MediaryPlayer, MediaryUploader }[name];
      root.render(component && createElement(component, props));
    },
    showTokenUploader: (baseUrl, token) => {
      const props = { id: 'token', baseUrl, accept: 'image/*', capture: 'environment' };
      const onUploadReady = ({ detail }) => page.ready.push(detail.filename);
      const prompt = createElement('span', { slot: 'prompt' }, 'Pictures');
      createRoot(document.querySelector('#react')).render(
        createElement(MediaryUploader, { ...props, tokenProvider: () => token, onUploadReady }, prompt),
      );
    },
  };
  Object.assign(globalThis, { page });
`;

/** Below the package, whose dependencies it uses. */
const SCRIPT_FILE = join(ROOT, 'packages/elements/src/page.js');

async function buildPage(): Promise<Map<string, string>> {
  const bundle = await rolldown({
    input: SCRIPT_FILE,
    platform: 'browser',
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        resolveId: (id) => (id === SCRIPT_FILE ? id : undefined),
        load: (id) => (id === SCRIPT_FILE ? SCRIPT : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, entryFileNames: 'page.js' });
  await bundle.close();
  return new Map(output.map((part) => [`/${part.fileName}`, 'code' in part ? part.code : '']));
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => {
    server.close(resolve);
  });
}
