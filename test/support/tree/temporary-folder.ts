// The folder of the temporary files of tests and benchmarks.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/**
 * ext4 searches among the files that were deleted in the last minutes for each new one, and tests copy and
 * delete whole clusters. The attribute spreads the folders below over the disk: a copy takes a tenth of the
 * time. Other file systems refuse it.
 */
export function prepareTemporaryFolder(): string {
  const name = `mediary-tests-${process.getuid?.() ?? 0}`;
  // A process that the tests started has it already.
  if (basename(tmpdir()) === name) return tmpdir();
  const folder = join(tmpdir(), name);
  mkdirSync(folder, { recursive: true });
  spawnSync('chattr', ['+T', folder]);
  return folder;
}
