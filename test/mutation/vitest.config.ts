// The tests of a mutation run: the unit tests of the scope, without those that take seconds.
import { defineConfig } from 'vitest/config';
import { unitFiles } from '../support/suites.ts';

const scope = process.env['MUTATION_SCOPE'];
if (!scope) throw new Error('MUTATION_SCOPE is not set. Run `npm run test:mutation`.');

const SLOW_FILES = /(?:-provider|\.property)\.test\.ts$/;

export default defineConfig({
  test: {
    include: unitFiles.filter((file) => file.startsWith(`service/src/${scope}/`) && !SLOW_FILES.test(file)),
    setupFiles: ['test/mutation/skip-slow.ts'],
    pool: 'threads',
    // A worker per test file would take 0.3 s per mutant and file.
    isolate: false,
    testTimeout: 60_000,
  },
});
