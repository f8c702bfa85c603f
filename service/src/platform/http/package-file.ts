// Reads a file that an npm package ships for web pages.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** `specifier`: package and path, as in an import. */
export const readPackageFile = (specifier: string): Promise<Uint8Array> =>
  readFile(fileURLToPath(import.meta.resolve(specifier)));
