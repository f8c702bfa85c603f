// How many assets of all owners are in each state; a click shows them.
import { Anchor, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { AssetFilters } from '../../api/assets.ts';
import { countsQuery } from '../../api/health.ts';
import { formatCount } from '../../parts/format.ts';
import { formatFilters } from './use-filters.ts';

type StreamStatus = NonNullable<AssetFilters['stream_status']>;

const WORDS: readonly (readonly [StreamStatus, string])[] = [
  ['ready', 'ready'],
  ['processing', 'processing'],
  ['pending_upload', 'waiting for bytes'],
  ['failed', 'failed'],
];

export function StateCounts({ filters }: { readonly filters: AssetFilters }) {
  const { data } = useQuery(countsQuery);
  const countOf = (status: StreamStatus): number =>
    (data?.items ?? [])
      .filter((item) => item.stream_status === status)
      .reduce((sum, item) => sum + item.asset_count, 0);
  const counted = WORDS.map(([status, word]) => ({ status, word, count: countOf(status) }));
  return (
    <Group component="nav" aria-label="States" className="state-counts">
      {counted
        .filter(({ count }) => count > 0)
        .map(({ status, word, count }) => (
          <Anchor
            key={status}
            component={Link}
            href={`/library?${formatFilters({ stream_status: status })}`}
            aria-current={filters.stream_status === status ? 'page' : undefined}
            size="sm"
          >
            <Text span fw={600} size="sm">
              {formatCount(count)}
            </Text>{' '}
            {word}
          </Anchor>
        ))}
    </Group>
  );
}
