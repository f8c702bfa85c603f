// The API's own description, and whether answers are as it says.
import { expect } from 'vitest';
import { Compile } from 'typebox/compile';
import type { TSchema } from 'typebox';
import type { Answer, TestService } from './service.ts';

type Content = { readonly 'application/json': { readonly schema: TSchema } };
export type Operation = {
  readonly summary?: string;
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
  }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
};
export type ApiDocument = {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

export async function readDocument(service: TestService): Promise<ApiDocument> {
  const answer = await fetch(`${service.url}/openapi.json`);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await answer.json()) as ApiDocument;
}

/** `GET /api/v1/media/{id}` and the like, with what is said of each. */
export const operationsOf = ({ paths }: ApiDocument): Map<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    ),
  );

/** The answer's status is described, and its body is what the schema of that status says. */
export function expectDescribed(document: ApiDocument, name: string, { status, body }: Answer): void {
  const schema = operationsOf(document).get(name)?.responses[status]?.content?.['application/json'].schema;
  expect(schema, `${name} says nothing of ${status}`).toBeDefined();
  const faults = [...Compile(schema as TSchema).Errors(body)].map(
    ({ instancePath, message }) => `${instancePath} ${message}`,
  );
  expect(faults, `${name} ${status}`).toEqual([]);
}

/** What the router really has, read from its own picture of it. */
export function routesOf(service: TestService): string[] {
  const above: string[] = [];
  return service.server
    .printRoutes({ commonPrefix: true })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', node = ''] = /^(.*?)[├└]── (.*)$/.exec(line) ?? [];
      const [, part = '', methods] =
        /^(.*?)(?: \(([A-Z, ]+)\))?$/.exec(node.replace('(empty root node)', '')) ?? [];
      above.splice(indent.length / 4, above.length, part);
      return methods ? methods.split(', ').map((method) => `${method} ${above.join('')}`) : [];
    });
}
