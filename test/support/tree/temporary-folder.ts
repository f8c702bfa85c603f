// Where tests and benchmarks put their temporary files: a folder on the disk, and one in memory.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const NAME = `mediary-tests-${process.getuid?.() ?? 0}`;

/**
 * ext4 searches among the files that were deleted in the last minutes for each new one, and tests copy and
 * delete whole clusters. The attribute spreads the folders below over the disk: a copy takes a tenth of the
 * time. Other file systems refuse it.
 */
export function prepareTemporaryFolder(): string {
  // A process that the tests started has it already.
  if (basename(tmpdir()) === NAME) return tmpdir();
  const folder = join(tmpdir(), NAME);
  mkdirSync(folder, { recursive: true });
  spawnSync('chattr', ['+T', folder]);
  return folder;
}

const MEMORY = '/dev/shm';
/** Clusters, stores and films of three workers take less than 2 GiB. */
const NEEDED_BYTES = 8 * 1024 ** 3;

/**
 * A folder in memory for this process, which deletes it at its exit; `onDisk` where memory is short or TMPDIR
 * names another place. Tests whose databases need not wait for a disk take half of the time.
 */
export function prepareMemoryFolder(onDisk: string): string {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return onDisk;
  for (const name of readdirSync(MEMORY).filter(isAbandoned))
    rmSync(join(MEMORY, name), { recursive: true, force: true });
  const folder = join(MEMORY, `${NAME}-${process.pid}`);
  mkdirSync(folder);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function hasRoom(): boolean {
  if (!existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) >= NEEDED_BYTES;
}

/** Of a run that was killed. */
function isAbandoned(name: string): boolean {
  const [, pid] = RegExp(`^${NAME}-(\\d+)$`).exec(name) ?? [];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}

/** Clips and clusters that later runs find again; on the disk. */
export const keptFolder = (): string => process.env['TEST_KEPT_FOLDER'] ?? tmpdir();
