// What the search for a body's first fault costs, however many there are.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { validatorCompiler } from './validation.ts';

const schema = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 50 }) });
const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });

test('a list of sixty thousand faults is not searched to its end', () => {
  let reads = 0;
  const tags = new Proxy(
    Array.from({ length: 60_000 }, () => 1),
    {
      get: (list, name) => {
        reads += 1;
        return Reflect.get(list, name);
      },
    },
  );
  expect(validate({ tags })).toMatchObject({ error: { details: { field: 'tags.0' } } });
  expect(reads).toBeLessThan(2000);
});

test('a list that is too long is refused for its length', () => {
  const tags = Array.from({ length: 10_000 }, () => 'tag');
  expect(validate({ tags })).toMatchObject({ error: { details: { field: 'tags', limit: 50 } } });
});
