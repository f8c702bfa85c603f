// The test suites: unit tests and journeys (`npm test`), and suites with a script of their own.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ACCESS_KEY, missingS3Server, SECRET_KEY } from './test/support/ceph-rgw.ts';
import {
  journeyFiles,
  s3JourneyFiles,
  sdkJourneyFiles,
  timedFiles,
  unitFiles,
} from './test/support/suites.ts';

const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };
const limits = { testTimeout: 60_000, hookTimeout: 120_000 };
const durabilityLimits = { testTimeout: 600_000, hookTimeout: 120_000 };

// Each test file loads the same packages in a new process, in half the time with this cache.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled-tests');

export default defineConfig({
  test: {
    // More than the cores of a small machine: most journeys wait half of their time.
    maxWorkers: 4,
    // An uncaught exception or an unhandled rejection in a test process would have ended the service: it
    // fails the run.
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      // Unit tests share their modules: most of their time would go into loading the same ones again.
      { test: { name: 'unit', include: [...unitFiles], isolate: false, ...limits } },
      { test: { name: 'journeys', include: [...journeyFiles], ...limits } },
      {
        test: {
          name: 'durability',
          include: ['test/durability/**/*.test.ts'],
          exclude: [...timedFiles],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...durabilityLimits,
        },
      },
      {
        test: {
          name: 'durability-timed',
          include: [...timedFiles],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...durabilityLimits,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          maxConcurrency: 2,
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
      { test: { name: 'sdk', include: [...sdkJourneyFiles], env: { TEST_SDK: '1' }, ...limits } },
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
