// The test suites: unit tests and journeys (`npm test`), durability tests, browser tests, and tests at scale.
import { defineConfig } from 'vitest/config';
import { journeyFiles, unitFiles } from './test/support/suites.ts';

const limits = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 3,
    // An uncaught exception or an unhandled rejection in a test process would have ended the service: it
    // fails the run.
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { test: { name: 'unit', include: [...unitFiles], ...limits } },
      { test: { name: 'journeys', include: [...journeyFiles], ...limits } },
      {
        test: {
          name: 'durability',
          include: ['test/durability/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: 'scale', include: ['test/scale/**/*.test.ts'], ...limits } },
    ],
  },
});
