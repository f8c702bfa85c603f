// Tests how the values that a running service knows narrow a schema.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { addKnownValues } from './known-values.ts';

const Provider = Type.String({ $id: 'Provider', maxLength: 20 });

test('every part with a known $id gets its values, at any depth', () => {
  const schema = Type.Object({
    provider: Provider,
    items: Type.Array(Type.Union([Provider, Type.Null()])),
  });
  expect(addKnownValues(schema, { Provider: ['onprem', 'cdnhost'] })).toMatchObject({
    properties: {
      provider: { type: 'string', maxLength: 20, enum: ['onprem', 'cdnhost'] },
      items: { items: { anyOf: [{ type: 'string', enum: ['onprem', 'cdnhost'] }, { type: 'null' }] } },
    },
  });
});

test('parts without a known $id stay as they are', () => {
  const schema = Type.Object({ provider: Provider, name: Type.String() });
  expect(addKnownValues(schema, { Kind: ['image'] })).toEqual(schema);
});
