// How many assets of all owners are in each state; a click shows them.
import { Anchor, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { AssetFilters } from '../../api/assets.ts';
import { countsQuery } from '../../api/health.ts';
import { formatCount } from '../../parts/format.ts';
import { STATES } from './filters.tsx';
import { formatFilters } from './use-filters.ts';

export function StateCounts({ filters }: { readonly filters: AssetFilters }) {
  const { data } = useQuery(countsQuery);
  const countOf = (status: string): number =>
    (data?.items ?? [])
      .filter((item) => item.stream_status === status)
      .reduce((sum, item) => sum + item.asset_count, 0);
  const counted = STATES.map((state) => ({ ...state, count: countOf(state.value) }));
  return (
    <Group component="nav" aria-label="States" className="state-counts">
      {counted
        .filter(({ count }) => count > 0)
        .map(({ value, label, count }) => (
          <Anchor
            key={value}
            component={Link}
            href={`/library?${formatFilters({ stream_status: value })}`}
            aria-current={filters.stream_status === value ? 'page' : undefined}
            size="sm"
          >
            <Text span fw={600} size="sm">
              {formatCount(count)}
            </Text>{' '}
            {label.toLowerCase()}
          </Anchor>
        ))}
    </Group>
  );
}
