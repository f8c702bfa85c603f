// Programs of the system that the cluster needs, and the packages that bring them.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian installs nginx outside the PATH of ordinary users. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin'];

/** The path of a program; undefined if it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What to install, as a command; undefined if every program is there. `programs`: program → package. */
export function describeMissingPackages(programs: Readonly<Record<string, string>>): string | undefined {
  const missing = Object.entries(programs).filter(([program]) => !findProgram(program));
  if (missing.length === 0) return undefined;
  const packages = [...new Set(missing.map(([, name]) => name))].sort();
  return (
    `Missing programs: ${missing.map(([program]) => program).join(', ')}. Install them (Debian, Ubuntu):\n` +
    `  apt-get install --no-install-recommends ${packages.join(' ')}`
  );
}
