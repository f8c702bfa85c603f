// Paths of uploads: only files below the root folder, whatever links lead to.
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ToolError } from './tool-error.ts';

/**
 * The real path of a file below the real path of `root`, both without symbolic links. A relative path starts
 * at the root. What is outside is refused before it is looked at, so that nothing tells whether it exists.
 */
export async function resolveBelowRoot(root: string, path: string): Promise<string> {
  const realRoot = await realpath(root).catch(() => {
    throw refusal(`The root folder ${root} cannot be read.`, root);
  });
  const named = resolve(realRoot, path);
  if (!isBelow(realRoot, named) && !isBelow(resolve(root), named)) throw outside(path, root);
  const real = await realpath(named).catch(() => {
    throw refusal(`${path} does not exist or cannot be read.`, root);
  });
  if (!isBelow(realRoot, real)) throw outside(path, root);
  if (!(await stat(real)).isFile()) throw refusal(`${path} is not a file.`, root);
  return real;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const outside = (path: string, root: string): ToolError =>
  refusal(`${path} is outside of the folder that uploads may read.`, root);

const refusal = (message: string, root: string): ToolError =>
  new ToolError(message, {
    errorCode: 'PATH_REFUSED',
    hint: `Uploads read files below ${root}. The flag --root of this server sets another folder.`,
  });
