// How the tests run: the suites beside the code, and the journeys.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['service/src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
  },
});
