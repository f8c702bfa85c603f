// The last day as charts. They load when this screen is opened, because they are large.
import '@mantine/charts/styles.css';
import { LineChart, type LineChartSeries } from '@mantine/charts';
import { SimpleGrid, Text, Title } from '@mantine/core';
import type { SampleList, SampleName } from '@mediary/contract/schemas/admin/samples';
import { useQuery } from '@tanstack/react-query';
import { samplesQuery } from '../../api/health.ts';
import { formatBytes } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/section.tsx';

type Line = { readonly name: SampleName; readonly label: string; readonly color: string };
type Chart = {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
};

const toRate = (value: number): string => `${round(value)}/s`;
const toSeconds = (value: number): string =>
  value < 1 ? `${Math.round(value * 1000)} ms` : `${round(value)} s`;
const round = (value: number): number => Number(value.toPrecision(3));

const CHARTS: readonly Chart[] = [
  {
    title: 'Requests',
    format: toRate,
    lines: [{ name: 'requests_per_s', label: 'All', color: 'sea.5' }],
  },
  {
    title: 'Errors',
    format: toRate,
    lines: [
      { name: 'errors_4xx_per_s', label: '4xx', color: 'yellow.7' },
      { name: 'errors_5xx_per_s', label: '5xx', color: 'red.6' },
    ],
  },
  {
    title: 'Time of requests',
    format: toSeconds,
    lines: [{ name: 'request_p95_s', label: '95 % within', color: 'sea.5' }],
  },
  {
    title: 'Encode speed',
    format: (value) => `${round(value)} ×`,
    lines: [{ name: 'encode_speed_p50', label: 'Film per time, median', color: 'teal.6' }],
  },
  {
    title: 'Until a video plays',
    format: toSeconds,
    lines: [
      { name: 'time_to_playable_p50_s', label: '50 % within', color: 'teal.6' },
      { name: 'time_to_playable_p95_s', label: '95 % within', color: 'yellow.7' },
    ],
  },
  {
    title: 'Bytes of all owners',
    format: formatBytes,
    lines: [{ name: 'bytes_stored', label: 'Stored', color: 'sea.5' }],
  },
  {
    title: 'Free space of the object store',
    format: formatBytes,
    lines: [{ name: 'store_free_bytes', label: 'Free', color: 'gray.6' }],
  },
  {
    title: 'Waiting jobs',
    format: (value) => `${round(value)}`,
    lines: [{ name: 'queue_waiting', label: 'Of all queues', color: 'yellow.7' }],
  },
];

export function Charts() {
  const query = useQuery(samplesQuery);
  return (
    <Section title="The last 24 hours" about="One point for ten minutes, of all processes together.">
      <Loaded query={query}>
        {({ items, step_s: step }) =>
          items.length === 0 ? (
            <Text size="sm" c="dimmed">
              No samples yet. Each process records one a minute: come back in two minutes.
            </Text>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, xl: 4 }} spacing="lg">
              {CHARTS.map((chart) => (
                <SampleChart key={chart.title} chart={chart} samples={fillDay(items, step)} />
              ))}
            </SimpleGrid>
          )
        }
      </Loaded>
    </Section>
  );
}

type Samples = SampleList['items'];

/** Entries for the whole day, so that all charts have the same hours and show when nothing ran. */
function fillDay(samples: Samples, stepS: number): Samples {
  const values = new Map(samples.map(({ at, values }) => [Date.parse(at), values]));
  const last = Math.max(...values.keys());
  const count = DAY_S / stepS;
  return Array.from({ length: count }, (_, index) => {
    const at = last - (count - 1 - index) * stepS * 1000;
    return { at: new Date(at).toISOString(), values: values.get(at) ?? {} };
  });
}

const DAY_S = 86_400;
/** So few points may have no neighbour to draw a line to. */
const FEW = 24;

type ChartProps = { readonly chart: Chart; readonly samples: Samples };

const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

function SampleChart({ chart: { title, lines, format }, samples }: ChartProps) {
  const shown = lines.filter(({ name }) => samples.some(({ values }) => values[name] != null));
  const measured = samples.filter(({ values }) => shown.some(({ name }) => values[name] != null));
  const series: LineChartSeries[] = shown.map(({ name, label, color }) => ({ name, label, color }));
  const data = samples.map(({ at, values }) => ({ at: timeOfDay.format(new Date(at)), ...values }));
  const latest = shown.map(({ name, label }) => `${label}: ${format(lastOf(samples, name))}`);
  return (
    <figure className="chart">
      <Title order={3} size="h5" component="figcaption">
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {latest.length === 0 ? 'Nothing was measured' : latest.join(' · ')}
      </Text>
      {shown.length > 0 && (
        <LineChart
          h={160}
          mt="xs"
          data={data}
          dataKey="at"
          series={series}
          withDots={measured.length < FEW}
          dotProps={{ r: 2 }}
          connectNulls={false}
          curveType="linear"
          valueFormatter={format}
          yAxisProps={{ width: 66, tickCount: 4 }}
          xAxisProps={{ minTickGap: 40 }}
          lineChartProps={{ accessibilityLayer: false }}
          aria-hidden
        />
      )}
    </figure>
  );
}

/** The latest value that was measured. */
const lastOf = (samples: Samples, name: SampleName): number =>
  samples.findLast(({ values }) => values[name] != null)?.values[name] ?? 0;
