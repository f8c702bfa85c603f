// The size of @mediary/client in a page.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { measureBundle } from './support/tree/bundle-size.ts';

const CLIENT = join(import.meta.dirname, '../packages/client/src/index.ts');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-client-size-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a page loads at most 15 KB of it', async () => {
  expect((await measureBundle(CLIENT)).atOnce).toBeLessThan(15_000);
});

test('a page loads mediabunny and other parsers, at most 100 KB, when it inspects a file', async () => {
  const { later } = await measureBundle(CLIENT);
  expect(later).toBeGreaterThan(60_000);
  expect(later).toBeLessThan(100_000);
});

test('verifyWebhook alone has less than 2 KB', async () => {
  const input = join(folder, 'entry.js');
  await writeFile(input, `export { verifyWebhook } from ${JSON.stringify(CLIENT)};`);
  expect((await measureBundle(input)).atOnce).toBeLessThan(2_000);
});
