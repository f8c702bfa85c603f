// Tests that finding the first schema error is fast for any number of errors.
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { validatorCompiler } from './validation.ts';

const schema = Type.Object({ tags: Type.Array(Type.String(), { maxItems: 50 }) });
const validate = validatorCompiler({ schema, method: 'POST', url: '/', httpPart: 'body' });

test('a list with 60,000 errors is not searched completely', () => {
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

test('a list that is too long is rejected because of its length', () => {
  const tags = Array.from({ length: 10_000 }, () => 'tag');
  expect(validate({ tags })).toMatchObject({ error: { details: { field: 'tags', limit: 50 } } });
});
