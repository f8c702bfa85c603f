// The nginx file that operators copy is the one that the cluster runs with other addresses.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AssetQuery } from '@mediary/contract/schemas/library';
import { toLocalSite, withSegments } from './nginx.ts';

test('only addresses change', async () => {
  const model = await readFile(join(import.meta.dirname, '../nginx.conf'), 'utf8');
  const site = toLocalSite(model, 8080, [9001, 9002]);
  const changed = (text: string, other: string) =>
    text.split('\n').filter((line) => !other.split('\n').includes(line));
  expect(changed(site, model)).toEqual([
    '    server 127.0.0.1:9001 max_fails=1 fail_timeout=6s;',
    '    server 127.0.0.1:9002 max_fails=1 fail_timeout=6s;',
    '    listen 127.0.0.1:8080;',
  ]);
  expect(changed(model, site)).toHaveLength(3);
});

test('nginx waits longer than a long poll lasts', async () => {
  const model = await readFile(join(import.meta.dirname, '../nginx.conf'), 'utf8');
  const { wait } = AssetQuery.properties;
  const longest = 'maximum' in wait ? Number(wait.maximum) : Number.NaN;
  const [, seconds] = /location @long_poll \{[^}]* proxy_read_timeout (\d+)s;/.exec(model) ?? [];
  expect(Number(seconds)).toBeGreaterThan(longest + 5);
});

test('nginx-segments.conf needs two lines of it', async () => {
  const model = await readFile(join(import.meta.dirname, '../nginx.conf'), 'utf8');
  const lines = withSegments(model, '/run/x').split('\n');
  expect(lines.filter((line) => !model.split('\n').includes(line)).map((line) => line.trim())).toEqual([
    expect.stringMatching(/^proxy_cache_path \/run\/x\/segments keys_zone=mediary_segments:.*;$/),
    'include /run/x/mediary-segments.conf;',
  ]);
  expect(() => withSegments('server {}', '/run/x')).toThrow('proxy_cache_path');
});

test('a model without the known addresses is refused', () => {
  expect(() => toLocalSite('listen 80;', 8080, [9001])).toThrow('api-1.internal');
});
