// Reads the chapters that a command names: a text file, or none.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Chapter, parseChapters } from '@mediary/client';
import type { CommandContext } from '../../context.ts';
import { usageError } from '../../exit-codes.ts';

/** `none`: null. Undefined without the option. */
export async function readChapters(
  { io: { folder } }: Pick<CommandContext, 'io'>,
  file: string | undefined,
): Promise<Chapter[] | null | undefined> {
  if (file === undefined) return undefined;
  if (file === 'none') return null;
  const text = await readFile(resolve(folder, file), 'utf8').catch((error: Error) => {
    throw usageError(`The file of --chapters cannot be read: ${error.message}`, 'Name a text file, or none.');
  });
  try {
    return parseChapters(text);
  } catch (error) {
    throw usageError(`${file}: ${(error as Error).message}`, 'Write a line such as "1:05 Demo".');
  }
}
