// The documents list exactly the settings that the service reads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderSettingsList, renderSettingsPage } from '../service/settings-page.ts';
import { listSettingGroups, readConfig } from '../service/src/config.ts';
import { type Environment, namesOf } from '../service/src/platform/settings/read-settings.ts';
import { SECRETS } from './support/service.ts';

const fileAt = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const known = namesOf(listSettingGroups());

/** Names of the environment variables that are read. */
function settingsRead(): ReadonlySet<string> {
  const names = new Set<string>();
  const environment: Environment = new Proxy<Record<string, string>>(SECRETS, {
    get(target, name) {
      names.add(String(name));
      return Reflect.get(target, name);
    },
  });
  readConfig(environment, (path) => path);
  return names;
}

test('every setting that is read is in the list', () => {
  expect(settingsRead()).toEqual(known);
});

test('the page and the list of the command line are current: npm run docs', () => {
  expect(fileAt('docs/settings.md')).toBe(renderSettingsPage(listSettingGroups()));
  expect(fileAt('packages/cli/src/settings/service-settings.json')).toBe(
    renderSettingsList(listSettingGroups()),
  );
});

test('the guide for production names settings that exist', () => {
  const [, section = ''] =
    /\n## Settings\n([\s\S]*?)\n## /.exec(fileAt('docs/guides/going-to-production.md')) ?? [];
  const firstColumns = section.split('\n').map((line) => /^\|([^|]+)\|/.exec(line)?.[1] ?? '');
  const named = firstColumns.flatMap((cell) =>
    Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name),
  );
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});
