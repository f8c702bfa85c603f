// Every test file belongs to one suite, and a unit test starts nothing.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { journeyFiles, NGINX_JOURNEY, timedFiles, unitFiles } from './support/tree/suites.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

test('every test file belongs to one suite', () => {
  const own = globSync('test/{durability,browser,scale,clients,kubernetes,s3,cluster,image}/**/*.test.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  });
  const all = globSync('{packages,console/src,service,simulators,deploy,examples,test}/**/*.test.ts', {
    cwd: ROOT,
    exclude: ['**/node_modules'],
  });
  expect([...unitFiles, ...journeyFiles, ...own, NGINX_JOURNEY].sort()).toEqual(all.sort());
});

test('durability tests that run alone exist', () => {
  expect(timedFiles.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test('journeys and database tests are not unit tests', () => {
  expect(journeyFiles).toContain('test/journeys/library/list.test.ts');
  expect(journeyFiles).toContain('service/src/platform/postgres/database.test.ts');
  expect(unitFiles).toContain('service/src/lifecycle/decisions/decide.test.ts');
});

test('unit tests start no database, service or ffmpeg', () => {
  const starts =
    /\b(?:startEmbeddedPostgres|startTestPostgres|startService|startServiceProcess|findEngine)\(/;
  expect(unitFiles.filter((file) => starts.test(read(file)))).toEqual([]);
});
