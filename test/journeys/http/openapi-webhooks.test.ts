// The OpenAPI document types the webhooks that the service sends and receives, and its samples can be copied.
import { PUBLISHED_EVENT_TYPES } from '@mediary/contract/enums';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let document: unknown;
beforeAll(async () => {
  service = await startTestService({ MEDIARY_ROLE: 'api' });
  document = await (await fetch(`${service.url}/openapi.json`)).json();
});
afterAll(() => service?.stop());

test('has the webhooks that the service sends, each type with its payload', () => {
  const { webhooks, components } = document as {
    webhooks: Record<
      string,
      { post: { requestBody: { content: Record<string, { schema: { $ref: string } }> } } }
    >;
    components: {
      schemas: Record<string, { properties: { type: { const: string } } }> & {
        EventMessage: { discriminator: { mapping: Record<string, string> } };
      };
    };
  };
  expect(Object.keys(webhooks)).toEqual([...PUBLISHED_EVENT_TYPES]);
  const { mapping } = components.schemas.EventMessage.discriminator;
  for (const [type, { post }] of Object.entries(webhooks)) {
    const reference = post.requestBody.content['application/json']?.schema.$ref ?? '';
    expect(mapping[type]).toBe(reference);
    const name = reference.split('/').at(-1) ?? '';
    expect(components.schemas[name]?.properties.type.const).toBe(type);
  }
});

test('names the headers in which a provider may sign', () => {
  const { paths } = document as {
    paths: Record<string, { post: { parameters: { in: string; name: string; required: boolean }[] } }>;
  };
  const headersOf = (provider: string) =>
    paths[`/api/v1/webhooks/stream/${provider}`]?.post.parameters.map((each) => [each.name, each.required]);
  expect(headersOf('onprem')).toEqual([
    ['X-Onprem-Signature', false],
    ['X-Webhook-Signature', false],
  ]);
  expect(headersOf('edgehost')).toEqual([['Webhook-Signature', true]]);
});

test('has no fixed keys in samples, and names every example of an error', () => {
  const text = JSON.stringify(document);
  expect(text).not.toContain('2f1c6c1e-9a51');
  expect(text).not.toContain('"case_1"');
});
