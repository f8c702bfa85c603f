// Rows of the result table: measurement, reference, ratio and target.
import type { Ratios } from './pair.ts';

export type Row = readonly [what: string, against: string, figure: string, goal: string, detail: string];
type Named = { readonly what: string; readonly against: string; readonly goal: string };

export const round = (value: number): string => value.toFixed(2);

/** Compares two servers under the same load. */
export const ofPair = ({ what, against, goal }: Named, { throughput, perCpu, ours, limit }: Ratios): Row => [
  what,
  against,
  round(throughput),
  goal,
  `${Math.round(ours.perSecond)}/s to ${Math.round(limit.perSecond)}/s, p99 ${round(ours.p99)} ms to ${round(limit.p99)} ms; per processor second ${round(perCpu)}`,
];

/** Compares two ways to perform the same operations. */
export const ofRates = (
  { what, against, goal }: Named,
  { ratio, ours, limit }: { ratio: number; ours: number; limit: number },
): Row => [what, against, round(ratio), goal, `${round(ours)}/s to ${round(limit)}/s`];

export function table(rows: readonly Row[]): string {
  const head: Row = ['what', 'against', 'ratio', 'goal', 'detail'];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
