// Reads the compose files of deploy/ as Docker Compose does.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

export type ComposeService = {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly read_only: boolean;
  readonly init?: boolean;
  readonly tmpfs?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly networks?: { readonly mediary?: { readonly aliases?: readonly string[] } };
  readonly stop_grace_period?: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[] | string;
  readonly mem_limit: string;
  readonly cpus: number;
  readonly pids_limit: number;
  readonly shm_size?: string;
};
type ComposeFile = {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
};

const ROOT = join(import.meta.dirname, '../../..');

export const parseCompose = (path: string): ComposeFile =>
  parse(readFileSync(join(ROOT, path), 'utf8'), { merge: true }) as ComposeFile;

/** Of the compose file. */
export function getService(path: string, name: string): ComposeService {
  const service = parseCompose(path).services[name];
  if (!service) throw new Error(`${path} has no service ${name}`);
  return service;
}

/** With a filled deploy/.env. */
export const environmentOf = ({ environment = {} }: ComposeService): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, interpolate(value)]));

const interpolate = (value: string | number): string =>
  String(value).replace(/\$\{(\w+):(?:\?[^}]*|-([^}]*))\}/g, (_, name: string, fallback?: string) =>
    name.endsWith('_URL') ? (fallback ?? 'http://127.0.0.1:8080') : name.padEnd(40, '-'),
  );

/** In seconds. */
export const gracePeriodOf = ({ stop_grace_period: period = '0' }: ComposeService): number =>
  Number.parseInt(period, 10);
