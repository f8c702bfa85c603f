// Metrics in the text format of Prometheus.
import { PerformanceObserver } from 'node:perf_hooks';
import { expect, test, vi } from 'vitest';
import { createMetrics, createProcessMetrics } from './metrics.ts';

const RUNS = { name: 'mediary_runs_total', help: 'Runs.', labels: ['result'] } as const;
const WAITS = { name: 'mediary_wait_seconds', help: 'Waits.', labels: [], buckets: [1, 5] } as const;
const SIZE = { name: 'mediary_size_bytes', help: 'Size.', labels: [] } as const;
const OPEN = { name: 'mediary_open', help: 'Open.', labels: ['state'] } as const;

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line && !line.startsWith('#'));

test('counters and histograms appear with their first value', async () => {
  const metrics = createMetrics();
  expect(linesOf(await metrics.render())).toEqual([]);
  metrics.count(RUNS, { result: 'ok' });
  metrics.count(RUNS, { result: 'ok' });
  metrics.observe(WAITS, {}, 2);
  expect(await metrics.render()).toContain(
    '# HELP mediary_runs_total Runs.\n# TYPE mediary_runs_total counter',
  );
  expect(linesOf(await metrics.render())).toEqual([
    'mediary_runs_total{result="ok"} 2',
    'mediary_wait_seconds_bucket{le="1"} 0',
    'mediary_wait_seconds_bucket{le="5"} 1',
    'mediary_wait_seconds_bucket{le="+Inf"} 1',
    'mediary_wait_seconds_sum 2',
    'mediary_wait_seconds_count 1',
  ]);
});

test('gauges are read when the text is rendered, and left out when they cannot be read', async () => {
  const failures: string[] = [];
  const metrics = createMetrics(undefined, (_error, name) => failures.push(name));
  let isBroken = false;
  metrics.registerGauge(SIZE, () => {
    if (isBroken) throw new Error('broken');
    return [{ labels: {}, value: 7 }];
  });
  let states = ['a', 'b'];
  metrics.registerGauge(OPEN, async () => states.map((state) => ({ labels: { state }, value: 1 })));
  expect(linesOf(await metrics.render())).toEqual([
    'mediary_size_bytes 7',
    'mediary_open{state="a"} 1',
    'mediary_open{state="b"} 1',
  ]);
  expect(failures).toEqual([]);
  [isBroken, states] = [true, ['b']];
  expect(linesOf(await metrics.render())).toEqual(['mediary_open{state="b"} 1']);
  expect(failures).toEqual(['mediary_size_bytes']);
});

test('each registry counts for itself', async () => {
  const [one, other] = [createMetrics(), createMetrics()];
  one.count(RUNS, { result: 'ok' });
  expect(linesOf(await other.render())).toEqual([]);
});

test('the metrics of a process have its memory, CPU and event loop', async () => {
  const text = await createProcessMetrics(() => undefined).render();
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    expect(text).toMatch(new RegExp(`^${name} `, 'm'));
  expect(text).not.toMatch(/^nodejs_active_\w+_total/m);
});

test('services of a process have counters of their own, and its observers are started once', async () => {
  createProcessMetrics(() => undefined);
  const observe = vi.spyOn(PerformanceObserver.prototype, 'observe');
  const [one, other] = [createProcessMetrics(() => undefined), createProcessMetrics(() => undefined)];
  one.count(RUNS, { result: 'ok' });
  expect(await one.render()).toContain('mediary_runs_total{result="ok"} 1');
  const text = await other.render();
  expect(text).not.toContain('mediary_runs_total');
  expect(text).toMatch(/^process_resident_memory_bytes /m);
  expect(observe).not.toHaveBeenCalled();
  observe.mockRestore();
});
