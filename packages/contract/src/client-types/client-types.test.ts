// The types of the SDK are those of the schemas.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderClientTypes } from './client-types.ts';

test('packages/client/src/api is current (npm run docs writes it)', () => {
  const folder = join(import.meta.dirname, '../../../client/src/api');
  const written = readdirSync(folder).map(
    (name) => [name, readFileSync(join(folder, name), 'utf8')] as const,
  );
  expect(new Map(written)).toEqual(new Map([...renderClientTypes()].sort()));
});
