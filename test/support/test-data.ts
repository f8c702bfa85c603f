// Locates the optional external test data; tests that need it are skipped without it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const TEST_DATA = process.env['MEDIARY_TEST_DATA'];

export type Sample = { readonly name: string; readonly body: Uint8Array };

/** Every file of a set. */
export function samplesOf(folder: string): Sample[] {
  const files = readdirSync(join(TEST_DATA as string, folder), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => ({ name, body: readFileSync(join(parentPath, name)) }));
}
