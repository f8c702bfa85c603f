// The settings table of the README lists exactly the settings that the service reads.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readConfig } from '../service/src/config.ts';
import type { Environment } from '../service/src/platform/settings.ts';
import { SECRETS } from './support/service.ts';

/** Names of the environment variables that are read, without the `…_PREVIOUS` of secrets. */
function settingsRead(): string[] {
  const names = new Set<string>();
  const environment: Environment = new Proxy<Record<string, string>>(SECRETS, {
    get(target, name) {
      names.add(String(name));
      return Reflect.get(target, name);
    },
  });
  readConfig(environment, (path) => path);
  return [...names].filter((name) => !name.endsWith('_PREVIOUS')).sort();
}

function settingsListed(): string[] {
  const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
  const [, section = ''] = /\n## Settings\n([\s\S]*?)\n## /.exec(readme) ?? [];
  const firstColumns = section.split('\n').map((line) => /^\|([^|]+)\|/.exec(line)?.[1] ?? '');
  return firstColumns
    .flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, name = '']) => name))
    .sort();
}

test('the README lists exactly the settings of the service', () => {
  expect(settingsListed()).toEqual(settingsRead());
});
