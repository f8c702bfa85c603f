// Processes that a cluster starts again when they end.
import { setTimeout as delay } from 'node:timers/promises';
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

/** A frozen process keeps its connections and answers nothing. */
export async function freeze(pid: number | undefined, forMs: number): Promise<void> {
  if (pid === undefined) throw new Error('the process is not running');
  process.kill(pid, 'SIGSTOP');
  try {
    await delay(forMs);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

/** Kills it again whenever it was started. */
export async function keepDown(victim: Supervised, forMs: number): Promise<void> {
  for (const end = Date.now() + forMs; Date.now() < end; await delay(20)) {
    const pid = victim.pid();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  }
}
