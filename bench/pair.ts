// Measures two sides alternately, so that noise affects both, and returns the median of their ratios.
import { type Load, type Measured, run } from './load.ts';
import type { Server } from './processes.ts';

export type Side = { readonly server: Server; readonly next: Load['next'] };
export type Effort = { readonly rounds: number; readonly seconds: number };
type Pair = Effort & { readonly ours: Side; readonly reference: Side; readonly connections: number };

/** Ratios of the service to the reference: requests per second, and requests per second of CPU time. */
export type Ratios = {
  readonly throughput: number;
  readonly perCpuSecond: number;
  readonly ours: Measured;
  readonly reference: Measured;
};

type Sample = Measured & { readonly perCpuSecond: number };

export async function measurePair({ ours, reference, connections, rounds, seconds }: Pair): Promise<Ratios> {
  const measure = async ({ server, next }: Side, length: number): Promise<Sample> => {
    const before = server.cpuSeconds();
    const measured = await run({ port: server.port, connections, seconds: length, next });
    return { ...measured, perCpuSecond: measured.requests / (server.cpuSeconds() - before) };
  };
  await measure(reference, 1);
  await measure(ours, 1);
  const cycles: { reference: Sample; ours: Sample }[] = [];
  for (let round = 0; round < rounds; round++)
    cycles.push({ reference: await measure(reference, seconds), ours: await measure(ours, seconds) });
  const best = (side: 'ours' | 'reference') =>
    cycles.map((cycle) => cycle[side]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  return {
    throughput: median(cycles.map((cycle) => cycle.ours.perSecond / cycle.reference.perSecond)),
    perCpuSecond: median(cycles.map((cycle) => cycle.ours.perCpuSecond / cycle.reference.perCpuSecond)),
    ours: best('ours'),
    reference: best('reference'),
  };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
