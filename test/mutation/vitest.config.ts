// The tests of a mutation run: those beside the rules. Left out: random edits and scripted peers, which take seconds per mutant.
import { configDefaults, defineConfig } from 'vitest/config';

const scope = process.env['MUTATION_SCOPE'];
if (!scope) throw new Error('MUTATION_SCOPE is not set. Run `npm run test:mutation`.');

export default defineConfig({
  test: {
    include: [`service/src/${scope}/**/*.test.ts`],
    exclude: [...configDefaults.exclude, '**/*-provider.test.ts', '**/hosted-*.test.ts'],
    testNamePattern:
      /^(?!.*(?:random|any object is|a repeated name|one text for each|every sequence of up to))/,
    testTimeout: 60_000,
  },
});
