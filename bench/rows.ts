// Rows of the result table: measurement, reference, ratio and target.
import type { Ratios } from './pair.ts';

export type Row = readonly [what: string, against: string, ratio: string, goal: string, detail: string];
type CaseNames = { readonly what: string; readonly against: string; readonly goal: string };

export const round = (value: number): string => value.toFixed(2);

/** Compares two servers under the same load. */
export const rowOfPair = (
  { what, against, goal }: CaseNames,
  { throughput, perCpuSecond, ours, reference }: Ratios,
): Row => [
  what,
  against,
  round(throughput),
  goal,
  [
    `${Math.round(ours.perSecond)}/s to ${Math.round(reference.perSecond)}/s`,
    `p99 ${round(ours.p99)} ms to ${round(reference.p99)} ms`,
    `ratio per processor second ${round(perCpuSecond)}`,
  ].join(', '),
];

/** Compares two ways to perform the same operations. */
export const rowOfRates = (
  { what, against, goal }: CaseNames,
  { ratio, ours, reference }: { ratio: number; ours: number; reference: number },
): Row => [what, against, round(ratio), goal, `${round(ours)}/s to ${round(reference)}/s`];

export function table(rows: readonly Row[]): string {
  const head: Row = ['what', 'against', 'ratio', 'goal', 'detail'];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
