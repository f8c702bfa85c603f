// Processes that a cluster starts again when they end.
import type { Supervised } from '../../../deploy/cluster/supervised-process.ts';
import { eventually } from '../service.ts';

export const pidsOf = (processes: readonly Supervised[]) => processes.map((process) => process.pid());

/** Resolves when it has been started again. */
export async function kill(victim: Supervised): Promise<void> {
  const starts = victim.starts();
  process.kill(victim.pid() ?? 0, 'SIGKILL');
  await eventually(
    async () => victim.starts(),
    (count) => count > starts,
  );
}
