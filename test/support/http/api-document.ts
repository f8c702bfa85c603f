// Holds every response that a test receives against the OpenAPI document that the service serves.
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { HttpServer } from '../../../service/src/platform/http/server.ts';

type Media = { readonly schema?: object };
type Response = { readonly $ref?: string; readonly content?: Readonly<Record<string, Media>> };
type Methods = Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>;
type Document = {
  readonly paths: Readonly<Record<string, Methods>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
};

type Exchanged = {
  readonly method: string;
  readonly url: string;
  readonly status: number;
  readonly body: unknown;
};

/** Throws for a response that the document does not describe; unknown routes are not described. */
type CheckResponse = (exchanged: Exchanged) => void;

/** Origin → the server behind it. */
const servers = new Map<string, HttpServer>();
/** A document's text without its origin → its check: services with the same one share compiled schemas. */
const checks = new Map<string, CheckResponse>();
const checkOf = new WeakMap<HttpServer, Promise<CheckResponse>>();

/** Returns what forgets it: a stopped service would stay in memory. */
export function registerServer(address: string, server: HttpServer): () => void {
  servers.set(address, server);
  return () => void servers.delete(address);
}

export async function checkResponse(exchanged: Exchanged): Promise<void> {
  const server = servers.get(new URL(exchanged.url).origin);
  if (!server?.server.listening) return;
  const check = checkOf.get(server) ?? readCheck(server, new URL(exchanged.url).origin);
  checkOf.set(server, check);
  (await check)(exchanged);
}

/** Asked for from an address of its own, so that the rate limits of a test do not count it. */
async function readCheck(server: HttpServer, origin: string): Promise<CheckResponse> {
  const { payload } = await server.inject({ url: '/api/v1/openapi.json', remoteAddress: '192.0.2.77' });
  const text = payload.replaceAll(origin, '');
  const known = checks.get(text) ?? createCheck(JSON.parse(payload) as Document);
  checks.set(text, known);
  return known;
}

export function createCheck(document: Document): CheckResponse {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'api');
  const find = createFinder(document);
  return ({ method, url, status, body }) => {
    const path = find(new URL(url).pathname, method.toLowerCase());
    if (path === undefined) return;
    const name = `${method} ${path} ${status}`;
    const validate = validatorOf({ ajv, document }, { path, method: method.toLowerCase(), status });
    if (!validate) throw new Error(`${name} is not documented: ${JSON.stringify(body).slice(0, 500)}`);
    if (!validate(body))
      throw new Error(`${name} differs from the document: ${ajv.errorsText(validate.errors)}`);
  };
}

type Wanted = { readonly path: string; readonly method: string; readonly status: number };

function validatorOf(
  { ajv, document }: { ajv: Ajv2020; document: Document },
  { path, method, status }: Wanted,
): ValidateFunction | undefined {
  const response = document.paths[path]?.[method]?.responses[status];
  const shared = response?.$ref?.split('/').at(-1);
  const found = shared === undefined ? response : document.components.responses[shared];
  if (!found?.content?.['application/json']?.schema) return undefined;
  const at =
    shared === undefined ? ['paths', path, method, 'responses', status] : ['components', 'responses', shared];
  return ajv.getSchema(
    `api#/${[...at, 'content', 'application/json', 'schema'].map(toPointerPart).join('/')}`,
  );
}

/** A JSON pointer in a URI fragment. */
const toPointerPart = (part: string | number): string =>
  encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'));

/** Fixed paths come before those with parameters, as in the router. */
function createFinder({ paths }: Document): (pathname: string, method: string) => string | undefined {
  const patterns = Object.keys(paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({
      path,
      fits: RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    }));
  return (pathname, method) =>
    patterns.find(({ path, fits }) => fits.test(pathname) && method in (paths[path] as Methods))?.path;
}
