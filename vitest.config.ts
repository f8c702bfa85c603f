// The test suites: unit tests and journeys (`npm test`), and suites with a script of their own.
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { ACCESS_KEY, missingS3Server, SECRET_KEY } from './test/support/store/ceph-rgw.ts';
import {
  journeyFiles,
  s3JourneyFiles,
  sdkJourneyFiles,
  timedFiles,
  unitFiles,
} from './test/support/tree/suites.ts';
import { prepareMemoryFolder, prepareTemporaryFolder } from './test/support/tree/temporary-folder.ts';

const S3_CREDENTIALS = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY };
/** What a test may take on a machine that is several times slower than usual: a limit ends what hangs. */
const limits = { testTimeout: 240_000, hookTimeout: 240_000 };
const browserLimits = { testTimeout: 400_000, hookTimeout: 240_000 };
const durabilityLimits = { testTimeout: 600_000, hookTimeout: 240_000 };

const onDisk = prepareTemporaryFolder();
const inMemory = prepareMemoryFolder(onDisk);
process.env['TMPDIR'] = onDisk;
process.env['TEST_KEPT_FOLDER'] = onDisk;
/** Its services and tests have databases in one server. */
const postgresServer = 'test/support/postgres/server.setup.ts';
/** Tests of failures keep their data on the disk, as operators do. */
const fast = { env: { TMPDIR: inMemory } };
// Each process loads the same packages, in half the time with this cache.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.cache/compiled-tests');

export default defineConfig({
  test: {
    maxWorkers: 2,
    // An uncaught exception or an unhandled rejection in a test process would have ended the service: it
    // fails the run.
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      // The files that a process runs share their modules: much of their time would go into loading and
      // compiling the same ones again.
      { test: { name: 'unit', include: [...unitFiles], isolate: false, ...fast, ...limits } },
      {
        test: {
          name: 'journeys',
          include: [...journeyFiles],
          globalSetup: [postgresServer],
          isolate: false,
          // One more than cores, since each test waits at times: for leases, timeouts and paced encodes.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          ...fast,
          ...limits,
        },
      },
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
          name: 'browser-pages',
          include: ['test/browser/pages/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          ...fast,
          ...browserLimits,
        },
      },
      {
        test: {
          name: 'browser-players',
          include: ['test/browser/players/*.test.ts'],
          maxConcurrency: 2,
          // Each file plays several videos at a time, which Chromium decodes without a GPU.
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          ...fast,
          ...browserLimits,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/*.test.ts'],
          env: S3_CREDENTIALS,
          testTimeout: 300_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 's3',
          include: ['test/s3/**/*.test.ts', ...(missingS3Server() === undefined ? s3JourneyFiles : [])],
          globalSetup: ['test/s3/s3-server.setup.ts', postgresServer],
          env: { ...S3_CREDENTIALS, ...fast.env },
          ...limits,
        },
      },
      {
        test: {
          name: 'sdk',
          include: [...sdkJourneyFiles],
          globalSetup: [postgresServer],
          env: { TEST_SDK: '1', ...fast.env },
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
      { test: { name: 'kubernetes', include: ['test/kubernetes/*.test.ts'], ...limits } },
      {
        test: {
          name: 'image',
          include: ['test/image/*.test.ts'],
          testTimeout: 240_000,
          // It builds the image.
          hookTimeout: 1_400_000,
        },
      },
      { test: { name: 'scale', include: ['test/scale/**/*.test.ts'], ...limits } },
    ],
  },
});
