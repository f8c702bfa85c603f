// What the processes of a cluster logged of requests.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const REQUEST_ID = /"request_id":"([\w-]+)"/;

/** The lines of all log files that name the request of one of these answers. */
export async function logOf(folder: string, answers: readonly string[]): Promise<string> {
  const ids = answers.flatMap((answer) => REQUEST_ID.exec(answer)?.[1] ?? []);
  const names = await readdir(join(folder, 'logs'));
  const logs = await Promise.all(names.map((name) => readFile(join(folder, 'logs', name), 'utf8')));
  const lines = logs.flatMap((log) => log.split('\n'));
  return lines.filter((line) => ids.some((id) => line.includes(id))).join('\n');
}
