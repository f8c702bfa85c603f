// The tests of a mutation run: those beside the rules. Left out: random edits and scripted peers, which take seconds per mutant.
import { configDefaults, defineConfig } from 'vitest/config';

/** A folder, such as `lifecycle`: a mutant of a module constant runs every test, so a narrow scope is much faster. */
const scope = process.env['MUTATION_SCOPE'] ?? '{auth,lifecycle,providers,uploads,library}';

export default defineConfig({
  test: {
    include: [`service/src/${scope}/**/*.test.ts`],
    exclude: [...configDefaults.exclude, '**/*-provider.test.ts', '**/hosted-*.test.ts'],
    testNamePattern:
      /^(?!.*(?:random|any object is|a repeated name|one text for each|every sequence of up to))/,
    testTimeout: 60_000,
  },
});
