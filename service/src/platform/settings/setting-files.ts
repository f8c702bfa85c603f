// Reads settings from files: secrets that a container mounts (`…_FILE`), and credentials of systemd.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assertNoProblems, type Environment } from './read-settings.ts';

const SUFFIX = '_FILE';
/** The folder of the credentials that a unit of systemd loads (LoadCredential=). */
const CREDENTIALS = 'CREDENTIALS_DIRECTORY';

/**
 * The environment with the texts of the files in place of their paths. Throws with one message that names
 * every problem. A variable that is set wins over a credential.
 */
export function readSettingFiles(environment: Environment, names: Iterable<string>): Environment {
  const problems: string[] = [];
  const read: Record<string, string | undefined> = { ...environment };
  for (const name of names) {
    const path = environment[`${name}${SUFFIX}`]?.trim();
    if (!path) {
      read[name] ??= findCredential(environment[CREDENTIALS], name);
      continue;
    }
    delete read[`${name}${SUFFIX}`];
    if (environment[name]) problems.push(`${name} and ${name}${SUFFIX} must not be set at the same time`);
    else read[name] = readText(path, (reason) => problems.push(`${name}${SUFFIX}: ${reason}`));
  }
  assertNoProblems(problems);
  return read;
}

/** Undefined for a credential that was not loaded. */
const findCredential = (folder: string | undefined, name: string): string | undefined =>
  folder ? readText(join(folder, name), () => {}) : undefined;

/** Without the newline that editors add. */
function readText(path: string, onError: (reason: string) => void): string | undefined {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    onError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code})`);
    return undefined;
  }
}
