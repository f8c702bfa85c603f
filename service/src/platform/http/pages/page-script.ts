// Scripts for pages that the service serves: own text, or the file of an npm package.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { createLazyValue } from '../../concurrency/lazy-value.ts';

/** `version` changes with the bytes. */
type PageScript = { readonly bytes: Uint8Array; readonly version: string };

/** A short name for these bytes, and only these. */
export const versionOf = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 22);

export const toPageScript = (text: string): PageScript => ({
  bytes: Buffer.from(text),
  version: versionOf(text),
});

/** `specifier`: package and path, as in an import. Reads the file once, with the first request. */
export const openPackageScript = (specifier: string): (() => Promise<PageScript>) =>
  createLazyValue(async () => {
    const bytes = await readFile(fileURLToPath(import.meta.resolve(specifier)));
    return { bytes, version: versionOf(bytes) };
  });
