// The test suites: unit tests and journeys (`npm test`), and suites with a script of their own.
import { defineConfig } from 'vitest/config';
import { ACCESS_KEY, missingS3Server, SECRET_KEY } from './test/support/ceph-rgw.ts';
import { journeyFiles, s3JourneyFiles, unitFiles } from './test/support/suites.ts';

const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };
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
          env: S3_CREDENTIALS,
          testTimeout: 300_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 's3',
          include: ['test/s3/**/*.test.ts', ...(missingS3Server() === undefined ? s3JourneyFiles : [])],
          globalSetup: ['test/s3/s3-server.setup.ts'],
          env: S3_CREDENTIALS,
          ...limits,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/cluster/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 240_000,
        },
      },
      { test: { name: 'scale', include: ['test/scale/**/*.test.ts'], ...limits } },
    ],
  },
});
