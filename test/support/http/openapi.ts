// Reads the OpenAPI document, and the routes that the router really has.
import { expect } from 'vitest';
import { httpServerOf, type TestService } from '../service.ts';

type Content = Readonly<
  Record<string, { readonly schema: object; readonly examples?: object; readonly example?: object }>
>;
type DocumentedResponse = {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Content;
};
type Operation = {
  readonly summary?: string;
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly tags?: readonly string[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: { readonly default?: unknown };
  }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
};
export type ApiDocument = {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, DocumentedResponse>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
  };
};

export async function readDocument(service: TestService): Promise<ApiDocument> {
  const answer = await fetch(`${service.url}/openapi.json`);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  return (await answer.json()) as ApiDocument;
}

/** Operations by name, such as `GET /api/v1/media/{id}`. */
export const operationsOf = ({ paths }: ApiDocument): Map<string, Operation> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    ),
  );

/** A response, also where it is one of the shared ones. */
export const responseOf = ({ components }: ApiDocument, response: DocumentedResponse): DocumentedResponse =>
  response.$ref === undefined
    ? response
    : (components.responses[response.$ref.split('/').at(-1) ?? ''] as DocumentedResponse);

/** What the router really has, read from its own picture of it. */
export function routesOf(service: TestService): string[] {
  const above: string[] = [];
  return httpServerOf(service)
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
