// The report of a migration: totals, a count of each result, and the items that need attention.
import type { ItemReport, ItemResult } from './item-report.ts';
import { formatBytes, formatDuration, formatFields, formatTable } from '../text.ts';

export type MigrationReport = {
  readonly source: string;
  readonly source_label: string;
  readonly item_count: number;
  /** As far as the source tells it. */
  readonly size_bytes: number;
  readonly duration_ms: number;
  readonly counts: Readonly<Partial<Record<`${ItemResult}_count`, number>>>;
  readonly items: readonly ItemReport[];
};

type About = {
  readonly source: string;
  readonly label: string;
  /** Results that the command can have; they are counted even where there is none. */
  readonly results: readonly ItemResult[];
};

export function buildReport(
  { source, label, results }: About,
  items: readonly ItemReport[],
): MigrationReport {
  const sum = (member: 'size_bytes' | 'duration_ms') =>
    items.reduce((total, item) => total + (item[member] ?? 0), 0);
  const countOf = (result: ItemResult) => items.filter((item) => item.result === result).length;
  return {
    source,
    source_label: label,
    item_count: items.length,
    size_bytes: sum('size_bytes'),
    duration_ms: sum('duration_ms'),
    counts: Object.fromEntries(results.map((result) => [`${result}_count`, countOf(result)])),
    items,
  };
}

export function formatReport(report: MigrationReport): string {
  const counts = Object.entries(report.counts).map(
    ([name, count]) => [name.replace(/_count$/, '').replace('_', ' '), count] as const,
  );
  const fields = formatFields([
    ['source', `${report.source} ${report.source_label}`],
    ['items', report.item_count],
    ['size', report.size_bytes > 0 ? formatBytes(report.size_bytes) : null],
    ['duration', report.duration_ms > 0 ? formatDuration(report.duration_ms) : null],
    ...counts,
  ]);
  const rows = report.items
    .filter(({ reason }) => reason !== null)
    .map(({ result, external_id: id, title, reason }) => [result.replace('_', ' '), id, title, reason]);
  return rows.length === 0
    ? fields
    : `${fields}\n\n${formatTable(['RESULT', 'EXTERNAL ID', 'TITLE', 'REASON'], rows)}`;
}
