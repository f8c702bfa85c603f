// How the tests run: beside the code and as journeys (`npm test`), as long proofs (`npm run test:proof`), and at size (`npm run test:scale`).
import { configDefaults, defineConfig } from 'vitest/config';

const limits = { testTimeout: 60_000, hookTimeout: 120_000 };

export default defineConfig({
  test: {
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: 'fast',
          include: ['{service/src,simulators,test}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/{proof,scale}/**'],
          ...limits,
        },
      },
      {
        test: {
          name: 'proof',
          include: ['test/proof/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: 'scale', include: ['test/scale/**/*.test.ts'], ...limits } },
    ],
  },
});
