// The tests of a mutation run: the unit tests of the scope. Left out: random edits and scripted peers, which take seconds per mutant.
import { defineConfig } from 'vitest/config';
import { unitFiles } from '../support/suites.ts';

const scope = process.env['MUTATION_SCOPE'];
if (!scope) throw new Error('MUTATION_SCOPE is not set. Run `npm run test:mutation`.');

const SLOW = /-provider\.test\.ts$/;

export default defineConfig({
  test: {
    include: unitFiles.filter((file) => file.startsWith(`service/src/${scope}/`) && !SLOW.test(file)),
    testNamePattern:
      /^(?!.*(?:random|any object is|a repeated name|one text for each|every sequence of up to))/,
    testTimeout: 60_000,
  },
});
