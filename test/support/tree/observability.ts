// Reads the alerts and dashboards of deploy/observability, and the metrics that the service defines.
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
export const OBSERVABILITY = join(ROOT, 'deploy/observability');

type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: object;
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly datasource: object }[];
};

type Dashboard = {
  readonly name: string;
  readonly uid: string;
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly name: string; readonly type: string }[] };
  readonly panels: readonly Panel[];
};

export const dashboards: readonly Dashboard[] = globSync('dashboards/*.json', { cwd: OBSERVABILITY })
  .sort()
  .map((file) => ({
    ...(JSON.parse(readFileSync(join(OBSERVABILITY, file), 'utf8')) as Omit<Dashboard, 'name'>),
    name: basename(file, '.json'),
  }));

/** `place`: dashboard and panel, for messages. */
export const dashboardQueries: readonly { readonly place: string; readonly expr: string }[] =
  dashboards.flatMap(({ name, panels }) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => ({ place: `${name}: ${title}`, expr })),
    ),
  );

type Alert = {
  readonly name: string;
  /** The lines of its rule. */
  readonly text: string;
};

/** Splits the file by its lines: the repository has no parser of YAML. */
export function readAlerts(): readonly Alert[] {
  const text = readFileSync(join(OBSERVABILITY, 'alerts.yml'), 'utf8');
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => ({ name: rule.slice(0, rule.indexOf('\n')), text: rule }));
}

type DefinedMetric = { readonly labels: readonly string[]; readonly isHistogram: boolean };

const DEFINITION = /name: '(mediary_\w+)',\s+help: [^\n]+\s+labels: \[([^\]]*)\],\s+(buckets:)?/g;

/** The metrics that the sources of the service define, by name. */
export function findDefinedMetrics(): ReadonlyMap<string, DefinedMetric> {
  const files = globSync('service/src/**/*.ts', { cwd: ROOT }).filter((file) => !file.endsWith('.test.ts'));
  return new Map(
    files.flatMap((file) =>
      Array.from(
        readFileSync(join(ROOT, file), 'utf8').matchAll(DEFINITION),
        ([, name = '', labels = '', buckets]): [string, DefinedMetric] => [
          name,
          {
            labels: Array.from(labels.matchAll(/'(\w+)'/g), ([, label = '']) => label),
            isHistogram: buckets !== undefined,
          },
        ],
      ),
    ),
  );
}
