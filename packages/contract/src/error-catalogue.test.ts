// The committed error catalogue is the one that the tables render.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderErrorCatalogue } from './error-catalogue.ts';

test('docs/errors.md is current (npm run docs writes it)', () => {
  const file = join(import.meta.dirname, '../../../docs/errors.md');
  expect(readFileSync(file, 'utf8')).toBe(renderErrorCatalogue());
});
