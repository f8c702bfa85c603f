// Owners, ranked by what they store.
import { Anchor, SegmentedControl, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Owner } from '@mediary/contract/schemas/admin/owner-totals';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { type OwnerFilters, ownersQuery } from '../../api/owners.ts';
import { formatBytes, formatCount } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { type Column, Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { Meter } from './meter.tsx';
import { toOwnerPage } from './owner-address.ts';

const SEARCH_AFTER_MS = 250;

const ORDERS = [
  { value: 'bytes', label: 'Most bytes' },
  { value: 'assets', label: 'Most assets' },
] as const;

export function OwnerList() {
  const [search, setSearch] = useState('');
  const [sort, setSort] = useState<OwnerFilters['sort']>('bytes');
  const [searched] = useDebouncedValue(search, SEARCH_AFTER_MS);
  const query = useInfiniteQuery(ownersQuery({ search: searched === '' ? undefined : searched, sort }));
  const [newest] = query.data?.pages[0]?.items ?? [];
  return (
    <Stack gap="lg">
      <div>
        <Title order={1} size="h2">
          Owners
        </Title>
        <Text c="dimmed">Who stores how much. A job counts it every few minutes.</Text>
      </div>
      <Section
        title="By what they store"
        about={
          newest && (
            <>
              Counted <Time at={newest.counted_at} />
            </>
          )
        }
        aside={
          <>
            <TextInput
              aria-label="Search owners"
              placeholder="A part of the id"
              leftSection={<Icon name="search" size={16} />}
              value={search}
              onChange={({ currentTarget }) => setSearch(currentTarget.value)}
              maxLength={255}
              type="search"
            />
            <SegmentedControl
              size="xs"
              data={[...ORDERS]}
              value={sort}
              onChange={setSort}
              aria-label="Order of owners"
            />
          </>
        }
      >
        <Loaded query={query}>
          {({ pages }) => (
            <Rows
              label="Owners"
              rows={pages.flatMap(({ items }) => items)}
              keyOf={({ owner_user_id: id }) => id}
              columns={COLUMNS}
              empty={<NoOwner searched={searched} />}
            />
          )}
        </Loaded>
        <ShowMore query={query} />
      </Section>
    </Stack>
  );
}

const NoOwner = ({ searched }: { readonly searched: string }) => (
  <>
    {searched === '' ? 'No owner is counted yet.' : 'No counted owner has this text in the id.'} Owners are
    listed within five minutes of their first upload.{' '}
    {searched === '' ? (
      <Anchor component={Link} href="/" underline="always">
        Upload a file
      </Anchor>
    ) : (
      <Anchor component={Link} href={toOwnerPage(searched)} underline="always">
        Open the page of <bdi>{searched}</bdi>
      </Anchor>
    )}
  </>
);

const COLUMNS: readonly Column<Owner>[] = [
  {
    label: 'Owner',
    render: ({ owner_user_id: id }) => (
      <Anchor component={Link} href={toOwnerPage(id)} size="sm" dir="auto">
        {id}
      </Anchor>
    ),
  },
  {
    label: 'Bytes',
    width: '34%',
    render: ({ owner_user_id: id, bytes, max_bytes: max }) => (
      <Meter used={bytes} max={max} format={formatBytes} label={`Bytes of ${id}`} />
    ),
  },
  {
    label: 'Assets',
    width: 150,
    render: ({ owner_user_id: id, assets, max_assets: max }) => (
      <Meter used={assets} max={max} format={formatCount} label={`Assets of ${id}`} />
    ),
  },
  {
    label: 'Uploads',
    width: 110,
    render: ({ pending }) => (pending === 0 ? 'None' : `${formatCount(pending)} open`),
  },
];
