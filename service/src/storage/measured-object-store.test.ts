// A measured store passes the contract of the port, and its operations are counted by result.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../platform/observability/metrics.ts';
import { openDiskObjectStore } from './disk-object-store.ts';
import { measureObjectStore } from './measured-object-store.ts';
import { objectStoreContract } from './object-store.contract.ts';
import { originalOf } from './object-store.fixture.ts';
import { partialObjectsContract } from './partial-objects.contract.ts';

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'measured-object-store-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const openMeasured = async (metrics = createMetrics()) =>
  measureObjectStore(await openDiskObjectStore(join(scratch, randomUUID())), metrics);

objectStoreContract('a measured disk', () => openMeasured());
partialObjectsContract('a measured disk', async () => {
  const { partial, ...store } = await openMeasured();
  if (!partial) throw new Error('the measured store takes whole objects only');
  return { ...store, partial };
});

test('operations are counted by their name and result', async () => {
  const metrics = createMetrics();
  const store = await openMeasured(metrics);
  const key = originalOf(randomUUID());
  const content = [Buffer.from('bytes')];
  await store.put(key, content, 5);
  await expect(store.put(key, content, 5)).rejects.toThrow('exists');
  await expect(store.put(originalOf(randomUUID()), content, 4)).rejects.toThrow('too_long');
  expect(await store.size(key)).toBe(5);
  expect(await buffer(store.stream(key))).toEqual(content[0]);
  await expect(buffer(store.stream(originalOf(randomUUID())))).rejects.toThrow('ENOENT');
  const lines = (await metrics.render()).split('\n').filter((line) => line.includes('_count'));
  expect(lines.map((line) => line.replace(/^\w+/, ''))).toEqual([
    '{operation="put",result="ok"} 1',
    '{operation="put",result="exists"} 1',
    '{operation="put",result="too_long"} 1',
    '{operation="size",result="ok"} 1',
    '{operation="stream",result="ok"} 1',
    '{operation="stream",result="error"} 1',
  ]);
});
