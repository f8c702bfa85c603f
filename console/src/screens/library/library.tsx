// All assets: search, filters, and a grid without end.
import { Button, Group, Stack, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useHotkeys } from '@mantine/hooks';
import { useEffect } from 'react';
import { Link } from 'wouter';
import { NothingHere } from '../../parts/nothing-here.tsx';
import { Problem } from '../../parts/problem.tsx';
import { BulkBar } from './bulk/bulk-bar.tsx';
import { BulkProgress } from './bulk/bulk-progress.tsx';
import { useBulk } from './bulk/use-bulk.ts';
import { useSelection } from './bulk/use-selection.ts';
import { Filters } from './filters.tsx';
import { AssetGrid } from './list/asset-grid.tsx';
import { useAssetList } from './list/use-asset-list.ts';
import './library.css';
import { StateCounts } from './state-counts.tsx';
import { useFilters } from './use-filters.ts';

export function Library({ session }: { readonly session: ConsoleSession }) {
  const [filters, setFilters] = useFilters();
  const list = useAssetList(session, filters);
  const selection = useSelection(list);
  const bulk = useBulk(selection.remove);
  const { clear } = selection;
  useHotkeys([['Escape', clear]]);
  const view = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list has another selection.
  useEffect(clear, [view, clear]);
  // Placeholders would promise assets that a refused list never brings.
  const isShown = !list.isEmpty && (list.error === null || list.readSlots > 0);
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Stack>
      <Group gap="lg">
        <Title order={1} size="h2">
          Library
        </Title>
        {session.kind === 'operator' && filters.owner === undefined && <StateCounts filters={filters} />}
        <Button component={Link} href="/upload" ml="auto">
          Upload
        </Button>
      </Group>
      <Filters session={session} filters={filters} onChange={setFilters} />
      {selection.assets.length > 0 && (
        <BulkBar
          session={session}
          selection={selection}
          listed={list.readSlots}
          isTrash={filters.deleted === true}
          isRunning={bulk.run?.isRunning === true}
          onAct={(action) => bulk.start(selection.assets, action)}
        />
      )}
      <BulkProgress bulk={bulk} />
      {list.error !== null && (
        <div className="list-problem">
          <Problem error={list.error} onRetry={list.refetch} />
        </div>
      )}
      {list.isEmpty && <Empty isFiltered={isFiltered} onClear={() => setFilters({})} />}
      {isShown && (
        <AssetGrid
          key={view}
          session={session}
          list={list}
          isTrash={filters.deleted === true}
          selection={selection}
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
    <NothingHere
      title="No assets yet"
      text="Images, videos and audio files appear here as soon as they are uploaded."
    >
      <Button component={Link} href="/">
        Upload the first one
      </Button>
    </NothingHere>
  );
