// Alerts, dashboards and runbooks use metrics, labels and endpoints that exist, and belong together.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '@mediary/contract/operations';
import { createProcessMetrics } from '../service/src/platform/observability/metrics.ts';
import {
  dashboardQueries,
  dashboards,
  findDefinedMetrics,
  OBSERVABILITY,
  readAlerts,
} from './support/tree/observability.ts';

const runbooks = readFileSync('docs/runbooks.md', 'utf8');
const alerts = readAlerts();
const rules = readFileSync(join(OBSERVABILITY, 'alerts.yml'), 'utf8');
const ruleTests = readFileSync(join(OBSERVABILITY, 'alerts.test.yml'), 'utf8');

const texts = [
  ...dashboardQueries.map(({ place, expr }) => [place, expr] as const),
  ['alerts.yml', rules] as const,
  ['alerts.test.yml', ruleTests] as const,
  ['runbooks.md', runbooks] as const,
];

const defined = findDefinedMetrics();
const measured = await createProcessMetrics(() => {}).render();
const ofProcess = new Set(Array.from(measured.matchAll(/^# TYPE (\w+)/gm), ([, name]) => name));

/** Samples of a histogram have the name of the metric with a suffix, and no others. */
function isSample(name: string): boolean {
  if (ofProcess.has(name)) return true;
  const metric = defined.get(name.replace(/_(?:bucket|sum|count)$/, ''));
  return metric?.isHistogram ? /_(?:bucket|sum|count)$/.test(name) : defined.has(name);
}

const NAMES = /\b(?:mediary|process|nodejs)_\w+/g;
const SELECTORS = /\b(mediary_\w+)\{([^}]*)\}/g;
/** Prometheus adds `job` and `instance` to each sample. */
const labelsOf = (name: string): readonly string[] => {
  const { labels = [] } = defined.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? {};
  return [...labels, 'job', 'instance', 'le'];
};

describe('alerts, dashboards and runbooks', () => {
  test('name metrics that the service has', () => {
    expect(defined.size).toBeGreaterThan(18);
    const unknown = texts.flatMap(([place, text]) =>
      Array.from(text.matchAll(NAMES), ([name]) => name)
        .filter((name) => !isSample(name))
        .map((name) => `${place}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  test('the dashboards show every metric of the service', () => {
    const shown = dashboardQueries.map(({ expr }) => expr).join('\n');
    expect([...defined.keys()].filter((name) => !shown.includes(name))).toEqual([]);
  });

  test('select by labels that the metric has', () => {
    const unknown = texts.flatMap(([place, text]) =>
      [...text.matchAll(SELECTORS)].flatMap(([, name = '', selector = '']) => {
        const used = Array.from(selector.matchAll(/(\w+)(?:=|!=|=~|!~)"/g), ([, label = '']) => label);
        return used
          .filter((label) => !labelsOf(name).includes(label))
          .map((label) => `${place}: ${name} ${label}`);
      }),
    );
    expect(unknown).toEqual([]);
  });
});

/** Literals of the service and the contract, where labels get their values. */
const sources = globSync('{service,packages/contract}/src/**/*.ts')
  .map((file) => readFileSync(file, 'utf8'))
  .join('\n');

test('alerts, dashboards and runbooks select values of labels that occur in the sources', () => {
  const selectors = texts
    .filter(([place]) => place !== 'alerts.test.yml')
    .flatMap(([, text]) => [...text.matchAll(SELECTORS)])
    .flatMap(([, , selector = '']) => [...selector.matchAll(/(\w+)[=!~]+"([^"]*)"/g)])
    .filter(([, label = '']) => !['job', 'instance', 'le'].includes(label));
  const values = new Set(selectors.flatMap(([, , value = '']) => value.replace(/[()]|\.\*/g, '').split('|')));
  expect(values.size).toBeGreaterThan(30);
  const occurs = (value: string) => sources.includes(`'${value}`) || new RegExp(`\\b${value}:`).test(sources);
  expect([...values].filter((value) => !occurs(value))).toEqual([]);
});

describe('alerts', () => {
  test('each have a time, a severity, a sentence with the value and a runbook', () => {
    expect(alerts.length).toBeGreaterThan(12);
    for (const { name, text } of alerts) {
      expect(text, name).toMatch(/^ {8}for: \d+[mh]$/m);
      expect(text, name).toMatch(/^ {8}labels: \{ severity: (?:page|ticket) \}$/m);
      expect(text, name).toMatch(/^ {10}summary: "(?=[A-Z0-9{]).*\{\{ \$value.*\."$/m);
      expect(text, name).toContain(`runbook_url: docs/runbooks.md#${name.toLowerCase()}\n`);
      expect(text, `${name} says why its threshold is this one`).toMatch(/^ {8}# /m);
    }
  });

  test('each have a test in which they fire, and one in which they do not', () => {
    const cases = ruleTests.split(/^ {6}- eval_time: /m).slice(1);
    for (const { name } of alerts) {
      const own = cases.filter((text) => new RegExp(`alertname: ${name}\\n`).test(text));
      const fires = (text: string) => /^ +exp_alerts:/m.test(text);
      expect(own.some(fires), `${name} fires`).toBe(true);
      const staysSilent = own.some((text) => !fires(text)) || SILENT_SERIES.includes(name);
      expect(staysSilent, `${name} stays silent`).toBe(true);
    }
  });

  test('each have a section of the runbooks, which has at most eight lines', () => {
    const sections = runbooks.split(/^## /m).slice(1);
    expect(sections.map((text) => text.split('\n')[0])).toEqual(alerts.map(({ name }) => name));
    for (const text of sections) {
      const lines = text.trim().split('\n').slice(1).filter(Boolean);
      expect(lines.length).toBeLessThanOrEqual(8);
      for (const part of ['Users', 'Look', 'Do']) expect(text).toContain(`- **${part}:** `);
    }
  });
});

/** Their test has series beside the one that fires, which stay below the threshold. */
const SILENT_SERIES = ['MediaryProviderWebhooksRejected', 'MediaryRepairsRising'];

describe('runbooks', () => {
  test('name operations and query parameters of the contract', () => {
    const named = [...runbooks.matchAll(/`(GET|POST|PUT|DELETE) (\/[^`?]*)(?:\?([^`]*))?`/g)];
    expect(named.length).toBeGreaterThan(15);
    const unknown = named.filter(([, method, path, query = '']) => {
      const operation = OPERATIONS.find((each) => each.method === method && each.path === path);
      const parameters = Object.keys(operation?.query?.properties ?? {});
      return !operation || ![...new URLSearchParams(query).keys()].every((key) => parameters.includes(key));
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
  });
});

describe.each(dashboards)('the dashboard $name', ({ schemaVersion, templating, panels }) => {
  test('is one of Grafana 11 or newer with a variable for the data source', () => {
    expect(schemaVersion).toBeGreaterThanOrEqual(39);
    expect(templating.list).toEqual([expect.objectContaining({ name: 'datasource', type: 'datasource' })]);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  });

  test('has panels with a unit, a sentence and queries of that data source', () => {
    const source = { type: 'prometheus', uid: '$' + '{datasource}' };
    for (const panel of panels.filter(({ type }) => type !== 'row')) {
      expect(panel.description, panel.title).toMatch(/^(?:[A-Z]|\d)[^.]*\.$/);
      expect(panel.fieldConfig?.defaults.unit, panel.title).toMatch(/./);
      expect([panel.datasource, ...(panel.targets ?? []).map(({ datasource }) => datasource)]).toEqual(
        Array.from({ length: 1 + (panel.targets ?? []).length }, () => source),
      );
      expect(panel.targets?.length, panel.title).toBeGreaterThan(0);
    }
  });
});
