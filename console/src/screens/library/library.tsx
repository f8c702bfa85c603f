// All assets: search, filters, and a grid without end.
import { Button, Group, Stack, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/console';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { assetsQuery } from '../../api/assets.ts';
import { NothingHere } from '../../parts/nothing-here.tsx';
import { Problem } from '../../parts/problem.tsx';
import { AssetGrid } from './asset-grid.tsx';
import { Filters } from './filters.tsx';
import { useFilters } from './use-filters.ts';

export function Library({ session }: { readonly session: ConsoleSession }) {
  const [filters, setFilters] = useFilters();
  const list = useInfiniteQuery(assetsQuery(session, filters));
  const assets = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Library
        </Title>
        <Button component={Link} href="/">
          Upload
        </Button>
      </Group>
      <Filters session={session} filters={filters} onChange={setFilters} />
      {list.error && <Problem error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && assets.length === 0 ? (
        <Empty isFiltered={isFiltered} onClear={() => setFilters({})} />
      ) : (
        <AssetGrid
          session={session}
          assets={assets}
          isLoading={list.isFetching}
          hasMore={list.hasNextPage}
          loadMore={() => void list.fetchNextPage()}
        />
      )}
    </Stack>
  );
}

const Empty = ({ isFiltered, onClear }: { readonly isFiltered: boolean; readonly onClear: () => void }) =>
  isFiltered ? (
    <NothingHere title="No asset matches" text="Another word or fewer filters may find it.">
      <Button variant="default" onClick={onClear}>
        Clear all filters
      </Button>
    </NothingHere>
  ) : (
    <NothingHere title="No assets yet" text="Images and videos appear here as soon as they are uploaded.">
      <Button component={Link} href="/">
        Upload the first one
      </Button>
    </NothingHere>
  );
