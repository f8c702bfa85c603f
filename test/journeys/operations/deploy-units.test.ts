// Holds the units of deploy/systemd: their settings exist, and systemd-analyze accepts and rates them.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../../deploy/cluster/programs.ts';
import { listSettingGroups, readConfig } from '../../../service/src/config.ts';
import { namesOf } from '../../../service/src/platform/settings/read-settings.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const FOLDER = join(ROOT, 'deploy/systemd');
const files = readdirSync(FOLDER);
const units = files.filter((file) => /\.(?:service|timer)$/.test(file));
const services = files.filter((file) => file.endsWith('.service'));
const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8');
const known = namesOf(listSettingGroups());

/** Those of the unit, for the instance 8080. */
const settingsOf = (unit: string): [string, string][] =>
  Array.from(read(unit).matchAll(/^Environment=(.*)$/gm), ([, line = '']) => line.split(' '))
    .flat()
    .map((word) => word.replaceAll('%i', '8080').split('=') as [string, string]);

/** Those of mediary.env, with the lines for several processes. */
const example = Array.from(
  read('mediary.env.example').matchAll(/^#?([A-Z_]+)=(.*)$/gm),
  ([, name = '', value = '']) => [name, value.replace('…', name.toLowerCase().padEnd(40, '-'))] as const,
);

test('every variable is a setting', () => {
  const names = [...services.flatMap(settingsOf), ...example].map(([name]) => name);
  expect(names.filter((name) => name !== 'NODE_ENV' && !known.has(name))).toEqual([]);
});

const processes = services.filter((unit) => !/backup|migrate/.test(unit));

test('API processes and workers start after the migrations, and do not migrate', () => {
  const shared = processes.filter((unit) => unit.includes('@'));
  expect(shared).toEqual(['mediary-api@.service', 'mediary-worker@.service']);
  for (const unit of shared) {
    expect(read(unit)).toMatch(/^Wants=.* mediary-migrate\.service$/m);
    expect(read(unit)).toMatch(/^After=.* mediary-migrate\.service$/m);
    expect(settingsOf(unit)).toContainEqual(['MIGRATE_AT_START', 'off']);
  }
  expect(read('mediary-migrate.service')).toMatch(/^Type=oneshot$/m);
  expect(read('mediary-migrate.service')).toMatch(/^ExecStart=.* service\/start\.js migrate$/m);
});

test.each(processes)('the settings of %s are valid', (unit) => {
  const config = readConfig(Object.fromEntries([...example, ...settingsOf(unit)]), (path) => path);
  const [, timeout] = /^TimeoutStopSec=(\d+)$/m.exec(read(unit)) ?? [];
  expect(Number(timeout)).toBeGreaterThan(config.drainSeconds + config.stopTimeoutSeconds + 10);
});

test('the user is the one of sysusers.d', () => {
  expect(read('mediary.sysusers.conf')).toMatch(/^u mediary - /m);
  expect(services.filter((unit) => !/^User=mediary$/m.test(read(unit)))).toEqual([]);
});

/** `security --offline` is new in systemd 250. */
function hasSystemd(): boolean {
  if (!findProgram('systemd-analyze')) return false;
  const [, version] =
    /^systemd (\d+)/.exec(execFileSync('systemd-analyze', ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(version) >= 250;
}

describe.skipIf(!hasSystemd())('systemd-analyze (systemd 250 or newer)', () => {
  let folder: string;
  /** systemd-analyze looks for the programs: those of this repository take the place of /opt/mediary. */
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'units-'));
    for (const unit of units)
      await writeFile(join(folder, unit), read(unit).replaceAll('/opt/mediary', ROOT));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('accepts all units', async () => {
    const result = await run('systemd-analyze', ['verify', '--man=no', ...units], { cwd: folder });
    expect(result).toEqual({ stdout: '', stderr: '' });
  });

  test.each(services)('rates the exposure of %s at 3.0 at most', async (unit) => {
    const options = ['security', '--offline=yes', '--threshold=30', '--no-pager', `./${unit}`];
    const { stdout } = await run('systemd-analyze', options, { cwd: folder });
    expect(stdout).toContain('Overall exposure level');
  });
});
