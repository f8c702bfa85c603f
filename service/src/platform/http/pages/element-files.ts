// The scripts of packages/elements, which the service serves from its own origin.
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { createLazyValue } from '../../concurrency/lazy-value.ts';
import { type PreparedContent, prepareFolder } from './prepared-content.ts';

const BUILT = join(import.meta.dirname, '../../../../../packages/elements/dist/browser');
const VERSION_CHARACTERS = 22;

type ElementFiles = {
  /** Changes with any of the files, which import each other. */
  readonly version: string;
  /** By name; empty where the package was not built. */
  readonly files: ReadonlyMap<string, PreparedContent>;
};

/** Reads and compresses the files once, with the first request. */
export const getElementFiles = createLazyValue(async (): Promise<ElementFiles> => {
  const files = await prepareFolder(BUILT);
  const tags = Array.from(files, ([name, { tag }]) => `${name} ${tag}`).join('\n');
  return { version: hash('sha256', tags, 'base64url').slice(0, VERSION_CHARACTERS), files };
});
