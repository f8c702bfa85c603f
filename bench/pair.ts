// Measures two sides alternately, so that noise affects both, and returns the median of their ratios.
import { type Load, type Measured, run } from './load.ts';
import type { Server } from './processes.ts';

export type Side = { readonly server: Server; readonly next: Load['next'] };
export type Effort = { readonly rounds: number; readonly seconds: number };
type Pair = Effort & { readonly ours: Side; readonly limit: Side; readonly connections: number };

/** Ratios of the service to the reference: requests per second, and requests per second of CPU time. */
export type Ratios = {
  readonly throughput: number;
  readonly perCpu: number;
  readonly ours: Measured;
  readonly limit: Measured;
};

type Sample = Measured & { readonly perCpu: number };

export async function measurePair({ ours, limit, connections, rounds, seconds }: Pair): Promise<Ratios> {
  const measure = async ({ server, next }: Side, length: number): Promise<Sample> => {
    const before = server.cpuSeconds();
    const measured = await run({ port: server.port, connections, seconds: length, next });
    return { ...measured, perCpu: measured.requests / (server.cpuSeconds() - before) };
  };
  await measure(limit, 1);
  await measure(ours, 1);
  const cycles: { limit: Sample; ours: Sample }[] = [];
  for (let round = 0; round < rounds; round++)
    cycles.push({ limit: await measure(limit, seconds), ours: await measure(ours, seconds) });
  const best = (side: 'ours' | 'limit') =>
    cycles.map((cycle) => cycle[side]).reduce((a, b) => (b.perSecond > a.perSecond ? b : a));
  return {
    throughput: median(cycles.map((cycle) => cycle.ours.perSecond / cycle.limit.perSecond)),
    perCpu: median(cycles.map((cycle) => cycle.ours.perCpu / cycle.limit.perCpu)),
    ours: best('ours'),
    limit: best('limit'),
  };
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
