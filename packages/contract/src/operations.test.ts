// The operations are consistent: unique, documented, and their examples match their schemas.
import type { TObject } from 'typebox';
import Value from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { ERROR_REASONS } from './errors.ts';
import { renderOpenApi } from './openapi/document.ts';
import type { JsonSchema } from './openapi/references.ts';
import type { Operation } from './operation.ts';
import { CdnhostReport, EdgehostReport, OnpremReport, webhookOperation } from './operations/webhooks.ts';
import { OPERATIONS } from './operations.ts';

const ALL: readonly Operation[] = [
  ...OPERATIONS,
  webhookOperation('cdnhost', { body: CdnhostReport, signature: 'HMAC-SHA256.', headers: ['X-Signature'] }),
  webhookOperation('edgehost', { body: EdgehostReport, signature: 'HMAC-SHA256.', headers: ['X-Signature'] }),
  webhookOperation('onprem', { body: OnpremReport, signature: 'SHA-256.', headers: ['X-Signature'] }),
];
const options = { server: 'https://media.example.com', providers: ['onprem'], version: '1.2.3' };

const repeated = (values: readonly string[]) =>
  values.filter((value, index) => values.indexOf(value) !== index);

describe('operations', () => {
  test('have unique ids and endpoints', () => {
    expect(repeated(ALL.map(({ id }) => id))).toEqual([]);
    expect(repeated(ALL.map(({ method, path }) => `${method} ${path}`))).toEqual([]);
  });

  test.each(ALL.filter(({ data }) => data).map((operation) => [operation.id, operation] as const))(
    '%s: the example matches the schema',
    (_id, { data, example }) => {
      expect(data && [...Value.Errors(data, example)]).toEqual([]);
    },
  );

  test.each(ALL.map((operation) => [operation.id, operation] as const))(
    '%s: every error reason belongs to its code',
    (_id, { errors = [] }) => {
      const wrong = errors.filter(
        ({ code, reason }) => reason && !(ERROR_REASONS[reason].codes as readonly string[]).includes(code),
      );
      expect(wrong).toEqual([]);
    },
  );

  test('lists return items and next_cursor', () => {
    const lists = ALL.filter(({ id, kind }) => kind === 'json' && /^list(?!UploadParts)/.test(id));
    const shapes = lists.map(({ data }) => (data as Partial<TObject>).required);
    expect(lists.length).toBeGreaterThan(8);
    for (const required of shapes) expect(required).toEqual(expect.arrayContaining(['items', 'next_cursor']));
  });

  test('summaries are short phrases, descriptions and cases are sentences', () => {
    const summaries = ALL.map(({ summary }) => summary);
    expect(summaries.filter((summary) => !/^[A-Z][a-z]*[^s\W] .{0,32}[^.]$/.test(summary))).toEqual([]);
    const cases = ALL.flatMap(({ errors = [] }) => errors.map(({ when }) => when));
    expect(cases.filter((when) => !/^[A-Z`].*\.$/.test(when))).toEqual([]);
  });
});

describe('the OpenAPI document', () => {
  const document = renderOpenApi(ALL, options) as {
    paths: Record<string, Record<string, JsonSchema>>;
  } & JsonSchema;
  const text = JSON.stringify(document);

  test('maps the values of a discriminator to schemas, and describes maps by additionalProperties', () => {
    const { schemas } = document['components'] as { schemas: Record<string, JsonSchema> };
    expect(schemas['Playback']?.['discriminator']).toEqual({
      propertyName: 'kind',
      mapping: {
        video: '#/components/schemas/VideoPlayback',
        image: '#/components/schemas/ImagePlayback',
        audio: '#/components/schemas/AudioPlayback',
      },
    });
    expect(text).not.toContain('patternProperties');
  });

  test('describes every operation once', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((each) => each['operationId']),
    );
    expect(ids.sort()).toEqual(ALL.map(({ id }) => id).sort());
  });

  test('every reference has a target', () => {
    const references = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)];
    const components = document['components'] as Record<string, Record<string, unknown>>;
    expect(references.length).toBeGreaterThan(100);
    expect(references.filter(([, kind = '', name = '']) => components[kind]?.[name] === undefined)).toEqual(
      [],
    );
  });

  test('names the registered providers and the server', () => {
    expect(document).toMatchObject({
      servers: [{ url: 'https://media.example.com' }],
      info: { version: '1.2.3' },
      components: { schemas: { ProviderName: { enum: ['onprem'] } } },
    });
  });

  test('a parameter with a default is optional', () => {
    const parameters = document.paths['/api/v1/media']?.['get']?.['parameters'];
    expect(parameters).toContainEqual(expect.objectContaining({ name: 'limit', required: false }));
  });

  test('a partial response has the media types of the whole one, and headers for the range', () => {
    type Response = { readonly content?: object; readonly headers?: object };
    const operations = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .map(({ operationId, responses, parameters }) => ({
        operationId,
        responses: responses as Readonly<Record<string, Response>>,
        headers: (parameters as readonly { readonly name: string }[]).map(({ name }) => name),
      }))
      .filter(({ responses }) => responses[206]);
    expect(operations.length).toBeGreaterThan(20);
    for (const { operationId, responses, headers } of operations) {
      expect(responses[206]?.content, String(operationId)).toEqual(responses[200]?.content);
      expect(responses[206]?.headers, String(operationId)).toHaveProperty('Content-Range');
      expect(headers, String(operationId)).toContain('Range');
    }
  });

  test('every path parameter has a description', () => {
    const parameters = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap(
        (each) => each['parameters'] as { in: string; name: string; description?: string }[],
      ),
    );
    const bare = parameters.filter((each) => each.in === 'path' && !each.description).map(({ name }) => name);
    expect(bare).toEqual([]);
  });
});
