// A Prometheus server with the configuration of deploy/observability, and the answers to its queries.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../http/free-port.ts';
import { OBSERVABILITY } from '../tree/observability.ts';

const PROMETHEUS = '/usr/bin/prometheus';
const PROMTOOL = '/usr/bin/promtool';

/** Undefined where the programs are installed. */
export const missingPrometheus = (): string | undefined =>
  [PROMETHEUS, PROMTOOL].every((program) => existsSync(program))
    ? undefined
    : `${PROMETHEUS} and ${PROMTOOL} are missing: install Debian's package "prometheus"`;

type Series = { readonly metric: Readonly<Record<string, string>>; readonly value: [number, string] };
/** `state`: `pending` as soon as the condition is met, `firing` after its time. */
type RuleState = {
  readonly name: string;
  readonly state: 'inactive' | 'pending' | 'firing';
  readonly health: string;
  readonly lastError?: string;
};
export type PrometheusServer = {
  query(expr: string): Promise<readonly Series[]>;
  rules(): Promise<readonly RuleState[]>;
  stop(): Promise<void>;
};

/** Its output fails the caller if the command does. */
export const runPromtool = (...args: readonly string[]) =>
  promisify(execFile)(PROMTOOL, args, { cwd: OBSERVABILITY });

const replaceAll = (text: string, pattern: RegExp, by: string): string => {
  if (!text.match(pattern)) throw new Error(`prometheus.yml has no ${pattern}`);
  return text.replace(pattern, by);
};

/** Scrapes these processes each second instead of the ones of the file. */
async function writeConfiguration(folder: string, targets: readonly string[]): Promise<string> {
  const file = join(folder, 'prometheus.yml');
  const own = await readFile(join(OBSERVABILITY, 'prometheus.yml'), 'utf8');
  const faster = replaceAll(own, /(?<=_interval: )\d+s/g, '1s');
  await writeFile(file, replaceAll(faster, /(?<=targets: )\[[^\]]*\]/, JSON.stringify(targets)));
  await copyFile(join(OBSERVABILITY, 'alerts.yml'), join(folder, 'alerts.yml'));
  return file;
}

export async function startPrometheus(targets: readonly string[]): Promise<PrometheusServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-prometheus-'));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    `--config.file=${await writeConfiguration(folder, targets)}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ];
  const child = spawn(PROMETHEUS, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const closed = once(child, 'close');
  const ask = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}`);
    const body = (await response.json()) as { data: T; error?: string };
    if (!response.ok) throw new Error(`${path}: ${body.error}`);
    return body.data;
  };
  return {
    query: async (expr) =>
      (await ask<{ result: Series[] }>(`query?${new URLSearchParams({ query: expr })}`)).result,
    rules: async () =>
      (await ask<{ groups: { rules: RuleState[] }[] }>('rules')).groups.flatMap(({ rules }) => rules),
    stop: async () => {
      child.kill('SIGKILL');
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
