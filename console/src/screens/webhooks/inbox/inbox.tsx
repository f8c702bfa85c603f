// The webhooks of providers, newest first.
import { Button, Group, Loader, Select, Stack, Text, TextInput } from '@mantine/core';
import { DELIVERY_REASONS } from '@mediary/contract/enums';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { type InboxFilters, inboxQuery } from '../../../api/webhooks.ts';
import { NothingHere } from '../../../parts/nothing-here.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { DeliveryRow } from './delivery-row.tsx';
import { Replay } from './replay.tsx';

const NAMES = ['provider', 'reason', 'asset_id', 'processed'] as const;

/** Of the address, so that people can share what they see. */
function useInboxFilters(): readonly [InboxFilters, (filters: InboxFilters) => void] {
  const query = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const given = NAMES.flatMap((name) => {
    const value = query.get(name);
    return value ? [[name, value] as const] : [];
  });
  const set = (filters: InboxFilters): void => {
    const text = new URLSearchParams(Object.entries(filters).filter(([, value]) => value)).toString();
    navigate(text === '' ? '/webhooks' : `/webhooks?${text}`, { replace: true });
  };
  return [Object.fromEntries(given), set];
}

export function Inbox() {
  const [filters, setFilters] = useInboxFilters();
  const [isReplaying, setReplaying] = useState(false);
  const list = useInfiniteQuery(inboxQuery(filters));
  const deliveries = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <Stack>
      <Filters filters={filters} onChange={setFilters} />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.isLoading && <Loader size="sm" aria-label="Reading the webhooks" />}
      {list.isSuccess && deliveries.length === 0 && (
        <Empty filters={filters} isFiltered={isFiltered} onClear={() => setFilters({})} />
      )}
      {filters.reason !== undefined && deliveries.length > 0 && (
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {describeReason(filters.reason)}
          </Text>
          {!isReplaying && (
            <Button variant="default" onClick={() => setReplaying(true)}>
              Replay all of these
            </Button>
          )}
        </Group>
      )}
      {isReplaying && filters.reason !== undefined && (
        <Replay key={JSON.stringify(filters)} request={filters} onClose={() => setReplaying(false)} />
      )}
      <Stack gap="xs" component="section" aria-label="Webhooks of providers">
        {deliveries.map((delivery) => (
          <DeliveryRow key={delivery.id} delivery={delivery} />
        ))}
      </Stack>
      {list.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show older ones
          </Button>
        </Group>
      )}
    </Stack>
  );
}

const describeReason = (reason: string): string =>
  Object.entries(DELIVERY_REASONS).find(([name]) => name === reason)?.[1] ?? '';

type EmptyProps = {
  readonly filters: InboxFilters;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
};

function Empty({ filters, isFiltered, onClear }: EmptyProps) {
  if (!isFiltered)
    return (
      <NothingHere
        title="No webhooks yet"
        text="Reports appear here as soon as a video is encoded, or a provider calls its webhook URL."
      />
    );
  return (
    <NothingHere
      title={filters.reason === 'parked' ? 'Nothing is parked' : 'No webhook matches'}
      text={
        filters.reason === 'parked'
          ? 'Every report has found its asset.'
          : 'Webhooks are kept for WEBHOOK_RETENTION_DAYS. Other filters may find more.'
      }
    >
      <Button variant="default" onClick={onClear}>
        Show all webhooks
      </Button>
    </NothingHere>
  );
}

const REASONS = Object.keys(DELIVERY_REASONS).map((reason) => ({
  value: reason,
  label: reason.replaceAll('_', ' '),
}));
const RESULTS = [
  { value: 'true', label: 'Changed an asset' },
  { value: 'false', label: 'Changed nothing' },
];

type FiltersProps = { readonly filters: InboxFilters; readonly onChange: (filters: InboxFilters) => void };

function Filters({ filters, onChange }: FiltersProps) {
  const set = (members: { [name in keyof InboxFilters]?: string | null }): void => {
    const merged = Object.entries({ ...filters, ...members }).filter(([, value]) => value);
    onChange(Object.fromEntries(merged));
  };
  return (
    <Group gap="sm" role="search">
      <Button
        variant={filters.reason === 'parked' ? 'filled' : 'default'}
        aria-pressed={filters.reason === 'parked'}
        onClick={() => set({ reason: filters.reason === 'parked' ? null : 'parked' })}
      >
        Parked
      </Button>
      <Select
        aria-label="Reason"
        placeholder="Reason"
        data={REASONS}
        value={filters.reason ?? null}
        onChange={(reason) => set({ reason })}
        clearable
        w={170}
      />
      <Select
        aria-label="Result"
        placeholder="Result"
        data={RESULTS}
        value={filters.processed ?? null}
        onChange={(processed) => set({ processed })}
        clearable
        w={170}
      />
      <TextField label="Provider" value={filters.provider} onChange={(provider) => set({ provider })} />
      <TextField label="Asset id" value={filters.asset_id} onChange={(id) => set({ asset_id: id })} />
    </Group>
  );
}

type FieldProps = {
  readonly label: string;
  readonly value: string | undefined;
  readonly onChange: (value: string) => void;
};

/** A part of an id finds nothing: the list changes when the field is left. */
function TextField({ label, value = '', onChange }: FieldProps) {
  return (
    <TextInput
      key={value}
      aria-label={label}
      placeholder={label}
      defaultValue={value}
      onBlur={({ currentTarget }) => currentTarget.value !== value && onChange(currentTarget.value.trim())}
      onKeyDown={({ key, currentTarget }) => key === 'Enter' && onChange(currentTarget.value.trim())}
      w={170}
    />
  );
}
