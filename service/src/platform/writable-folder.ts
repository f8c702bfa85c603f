// Checks at the start that a folder can be written, so that a wrong setting is one clear line.
import { access, constants, mkdir } from 'node:fs/promises';

/** Creates the folder where it is missing. Throws with the name of its setting. */
export async function assertWritableFolder(setting: string, folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new Error(
      `${setting}: the folder ${folder} cannot be written (${code}). Give the user of the service write access, or name another folder.`,
    );
  }
}
