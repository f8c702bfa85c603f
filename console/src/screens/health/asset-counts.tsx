// How many assets are in each state.
import { Anchor, Group, Paper, Text } from '@mantine/core';
import type { AssetCounts as Counts } from '@mediary/contract/schemas/admin/owner-totals';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { countsQuery } from '../../api/health.ts';
import { formatCount } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/section.tsx';

export function AssetCounts() {
  const query = useQuery(countsQuery);
  return (
    <Section title="Assets" about={query.data && `${formatCount(query.data.total)} without the trash`}>
      <Loaded query={query}>
        {({ items, total }) =>
          total === 0 ? (
            <Text size="sm" c="dimmed">
              No assets yet.{' '}
              <Anchor component={Link} href="/" underline="always">
                Upload the first one
              </Anchor>
            </Text>
          ) : (
            <Group gap="sm" align="stretch">
              {items.map((item) => (
                <Count key={`${item.stream_status} ${item.provider}`} item={item} />
              ))}
            </Group>
          )
        }
      </Loaded>
    </Section>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  pending_upload: 'waiting for bytes',
  processing: 'in processing',
  failed: 'failed',
  ready: 'ready',
};

type CountProps = { readonly item: Counts['items'][number] };

const Count = ({ item: { stream_status: status, provider, asset_count: count } }: CountProps) => (
  <Paper withBorder px="md" py="xs">
    <Text fw={650} size="lg">
      {formatCount(count)}
    </Text>
    <Text size="sm" c="dimmed">
      {provider === null ? 'images' : `assets of ${provider}`}{' '}
      <Anchor component={Link} href={toLibrary(status, provider)} size="sm" underline="always">
        {WORDS[status] ?? status}
      </Anchor>
    </Text>
  </Paper>
);

const toLibrary = (status: string, provider: string | null): string =>
  `/library?${new URLSearchParams({
    stream_status: status,
    ...(provider === null ? { kind: 'image' } : { provider }),
  })}`;
