// Locates the optional external test data, without which its tests are skipped, and generates large files.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const TEST_DATA = process.env['MEDIARY_TEST_DATA'];

const MIB = 1024 * 1024;

/** A file for an upload that is interrupted: of TEST_UPLOAD_MIB, by default `mib`, and some bytes more. */
export function createLargeFile(mib: number): Buffer {
  const count = Number(process.env['TEST_UPLOAD_MIB'] ?? mib);
  const blocks = Array.from({ length: count + 1 }, () => randomBytes(MIB));
  // No multiple of any buffer, batch or segment.
  return Buffer.concat(blocks).subarray(0, count * MIB + 12_345);
}

export type Sample = { readonly name: string; readonly body: Uint8Array };

/** Every file of a set. */
export function samplesOf(folder: string): Sample[] {
  const files = readdirSync(join(TEST_DATA as string, folder), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile());
  return files.map(({ name, parentPath }) => ({ name, body: readFileSync(join(parentPath, name)) }));
}
