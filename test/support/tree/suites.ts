// Divides the test files into unit tests and tests that start something, by what they import.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const FILES = '{packages,console/src,service/src,simulators,deploy,examples,test}/**/*.test.ts';
const OWN_SUITES = /^test\/(?:durability|browser|scale|clients|kubernetes|s3|cluster|image)\//;
const JOURNEYS = /^test\/journeys\//;
/** Modules that start a service, a database, ffmpeg or a sandboxed decoder. */
const STARTS_PROCESSES = [
  /support\/(?:service|service\/(?:service-process|clocked-service))\.ts$/,
  /support\/(?:postgres\/postgres|providers\/hosted|clips\/(?:clips|decoders|film|pictures))\.ts$/,
  /\/launcher(?:\.fixture\.ts)?$|^@mediary\/testing$/,
  /(?:simulators\.fixture|child-pool|sandbox)\.ts$|^node:child_process$/,
];

const files = globSync(FILES, { cwd: ROOT, exclude: ['**/node_modules'] })
  .filter((file) => !OWN_SUITES.test(file))
  .sort();

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const targetsOf = (file: string): readonly string[] =>
  Array.from(read(file).matchAll(/from '([^']+)'/g), ([, target = '']) => target);

const startsProcesses = (file: string): boolean =>
  JOURNEYS.test(file) || targetsOf(file).some((target) => STARTS_PROCESSES.some((form) => form.test(target)));

/** Has something to show only behind nginx, where `npm run test:nginx` runs it. */
export const NGINX_JOURNEY = 'test/journeys/playback/playback-nginx.test.ts';
const isRunHere = (file: string): boolean => process.env['TEST_NGINX'] === '1' || file !== NGINX_JOURNEY;

/** Journeys, and tests of adapters with the real thing behind them. */
export const journeyFiles: readonly string[] = files.filter(
  (file) => startsProcesses(file) && isRunHere(file),
);
/** No service, no database, no child process. */
export const unitFiles: readonly string[] = files.filter((file) => !startsProcesses(file));

/** Durability tests that compare response times with limits: each runs alone. */
export const timedFiles: readonly string[] = [
  'encode-preemption',
  'event-floods',
  'fatal-error',
  'frozen-database',
  'held-work',
  'hostile-probes',
  'image-starvation',
  'slow-clients',
].map((name) => `test/durability/${name}.test.ts`);

const S3_JOURNEYS = [
  'encoding/video-lifecycle',
  'playback/download-and-delete',
  'operations/storage-check',
  'uploads/put-upload',
  'uploads/put-races',
  'uploads/retry-upload',
  'uploads/import',
  'uploads/import-turns',
  'uploads/duplicates',
  'playback/encrypted-playback',
  'library/replace-file',
];
const S3_DURABILITY = ['kill-service'];

/** Journeys whose outcome depends on the store. The S3 suite runs them with an S3 store too. */
export const s3JourneyFiles: readonly string[] = [
  ...S3_JOURNEYS.map((name) => `test/journeys/${name}.test.ts`),
  ...S3_DURABILITY.map((name) => `test/durability/${name}.test.ts`),
];

/** Journeys that also run with their calls and uploads sent by the SDK. */
export const sdkJourneyFiles: readonly string[] = [
  'playback/download-and-delete',
  'uploads/duplicates',
  'library/edits-and-trash',
  'providers/hosted-videos',
].map((name) => `test/journeys/${name}.test.ts`);
