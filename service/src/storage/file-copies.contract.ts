// The contract of stores that copy local files: every adapter passes these tests.
import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { variantKey } from './object-key.ts';
import { MIB } from './object-store.fixture.ts';
import type { ObjectStore } from './object-store.ts';

export function fileCopiesContract(name: string, open: () => Promise<ObjectStore>): void {
  describe(`${name} copies local files`, () => {
    test.for([0, 1, 5 * MIB])('%i bytes to a key that is free', async (length) => {
      const store = await open();
      const [path, content] = [join(tmpdir(), randomUUID()), randomBytes(length)];
      const key = variantKey(randomUUID(), 'w640.avif');
      await writeFile(path, content);
      try {
        await store.putFile(key, path);
        await expect(store.putFile(key, path)).rejects.toMatchObject({ reason: 'exists' });
        expect((await readFile(path)).equals(content)).toBe(true);
      } finally {
        await rm(path);
      }
      expect((await buffer(store.stream(key))).equals(content)).toBe(true);
    });
  });
}
