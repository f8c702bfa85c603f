// Counts and measures what this process does, and renders it in the text format of Prometheus.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

type MetricName = `mediary_${string}`;

/** `help`: a sentence for people. `labels`: names whose values are few and known, never ids or owners. */
type MetricDefinition<L extends string = string> = {
  readonly name: MetricName;
  readonly help: string;
  readonly labels: readonly L[];
};

/** `buckets`: upper bounds, in the unit of the name. */
type HistogramDefinition<L extends string = string> = MetricDefinition<L> & {
  readonly buckets: readonly number[];
};

type LabelValues<L extends string> = Readonly<Record<L, string>>;

type GaugeSample<L extends string = string> = {
  readonly labels: LabelValues<L>;
  readonly value: number;
};

/** The metrics of one process. A metric appears when it first has a value. */
export type Metrics = {
  /** Adds one to a counter. */
  count<L extends string>(counter: MetricDefinition<L>, labels: LabelValues<L>): void;
  /** Adds a value to a histogram. */
  observe<L extends string>(histogram: HistogramDefinition<L>, labels: LabelValues<L>, value: number): void;
  /** `read` is called by each `render`. A gauge that cannot be read is left out. */
  registerGauge<L extends string>(
    gauge: MetricDefinition<L>,
    read: () => readonly GaugeSample<L>[] | Promise<readonly GaugeSample<L>[]>,
  ): void;
  render(): Promise<string>;
  /** The values of a counter or histogram; none before its first value. */
  read(name: MetricName): Promise<readonly MetricValue[]>;
};

/** Buckets of a histogram have the label `le`. */
type MetricValue = {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
};

type OnGaugeError = (error: unknown, name: string) => void;

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

/** Bounds of durations, in seconds. */
export const SHORT_DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
export const REQUEST_DURATIONS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
export const LONG_DURATIONS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200];

export const secondsSince = (startMs: number): number => (performance.now() - startMs) / 1000;

/** Counters of libraries that are no counters by the conventions of Prometheus. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** The least delay that is measured: the timer behind it keeps an idle process awake, 0.4 % of a core. */
const LAG_PRECISION_MS = 20;

/** One for all services of a process: its timer and observers run until the process ends. */
let ofProcess: Registry | undefined;

function getProcessRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess, eventLoopMonitoringPrecision: LAG_PRECISION_MS });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

/** Also measures the process itself: CPU, memory, garbage collection and the delay of the event loop. */
export const createProcessMetrics = (onError: OnGaugeError): Metrics =>
  createMetrics(Registry.merge([getProcessRegistry()]), onError);

/** The timer behind it costs less than that of the registry, whose values each scrape resets. */
const DELAY_PRECISION_MS = 50;

/** Measures the delay of the event loop beside the registry: its 99th percentile since the last reset. */
export function watchEventLoop() {
  const delays = monitorEventLoopDelay({ resolution: DELAY_PRECISION_MS });
  delays.enable();
  return {
    readSeconds: (): number => {
      const delayMs = delays.percentile(99) / 1e6 - DELAY_PRECISION_MS;
      return Number.isFinite(delayMs) ? Math.max(0, delayMs) / 1000 : 0;
    },
    reset: () => delays.reset(),
    close: (): void => {
      delays.disable();
    },
  };
}

/** Each registry belongs to one service, because tests start several in a process. */
export function createMetrics(registry = new Registry(), onError: OnGaugeError = () => {}): Metrics {
  const registers = [registry];
  const counters = new Map<MetricDefinition, Counter>();
  const histograms = new Map<HistogramDefinition, Histogram>();
  const counterOf = (definition: MetricDefinition): Counter => {
    const counter = new Counter({ ...toConfiguration(definition), registers });
    counters.set(definition, counter);
    return counter;
  };
  const histogramOf = (definition: HistogramDefinition): Histogram => {
    const buckets = [...definition.buckets];
    const histogram = new Histogram({ ...toConfiguration(definition), buckets, registers });
    histograms.set(definition, histogram);
    return histogram;
  };
  return {
    count: (definition, labels) => (counters.get(definition) ?? counterOf(definition)).inc(labels),
    observe: (definition, labels, value) =>
      (histograms.get(definition) ?? histogramOf(definition)).observe(labels, value),
    registerGauge: (definition, read) => {
      const gauge: Gauge = new Gauge({
        ...toConfiguration(definition),
        registers,
        collect: async () => {
          try {
            setSamples(gauge, await read());
          } catch (error) {
            setSamples(gauge, []);
            onError(error, definition.name);
          }
        },
      });
    },
    render: () => registry.metrics(),
    read: async (name) => (await registry.getSingleMetric(name)?.get())?.values ?? [],
  };
}

const toConfiguration = ({ name, help, labels }: MetricDefinition) => ({
  name,
  help,
  labelNames: [...labels],
});

function setSamples(gauge: Gauge, samples: readonly GaugeSample[]): void {
  gauge.reset();
  if (samples.length === 0) gauge.remove({});
  for (const { labels, value } of samples) gauge.set(labels, value);
}
