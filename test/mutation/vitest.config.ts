// The tests of a mutation run: the unit tests of the scope and of assets, without those that take seconds.
import { defineConfig } from 'vitest/config';
import { unitFiles } from '../support/tree/suites.ts';

const scope = process.env['MUTATION_SCOPE'];
if (!scope) throw new Error('MUTATION_SCOPE is not set. Run `npm run test:mutation`.');

/** Tests of assets cover decisions of other scopes; Stryker runs only those that import the mutated file. */
const FOLDERS = [`service/src/${scope}/`, 'service/src/assets/'];
const SLOW_FILES = /(?:-provider|\.property)\.test\.ts$/;

export default defineConfig({
  test: {
    include: unitFiles.filter(
      (file) => FOLDERS.some((folder) => file.startsWith(folder)) && !SLOW_FILES.test(file),
    ),
    setupFiles: ['test/mutation/skip-slow.ts'],
    pool: 'threads',
    // A worker per test file would take 0.3 s per mutant and file.
    isolate: false,
    testTimeout: 60_000,
  },
});
