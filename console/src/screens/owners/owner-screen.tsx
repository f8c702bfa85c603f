// One owner: usage, limits, export, import and erasure.
import { Anchor, Button, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ownerQuery } from '../../api/owners.ts';
import { formatBytes, formatCount } from '../../parts/format.ts';
import { Loaded, Section } from '../../parts/section.tsx';
import { EraseOwner, Erasure } from './erasure.tsx';
import { ExportOwner } from './export-owner.tsx';
import { ImportOwner } from './import-owner.tsx';
import { OwnerLimits } from './limits.tsx';
import { Meter } from './meter.tsx';

type OwnerProps = { readonly owner: string; readonly erasureId: string | null };

export const OwnerScreen = ({ owner, erasureId }: OwnerProps) => (
  <Stack gap="lg">
    <Anchor component={Link} href="/owners" size="sm">
      Owners
    </Anchor>
    <Group justify="space-between" align="flex-start">
      <Title
        order={1}
        size="h2"
        className="break-anywhere"
        dir="auto"
        style={{ flex: '1 1 240px', minWidth: 0 }}
      >
        {owner}
      </Title>
      <Button component={Link} href={`/library?${new URLSearchParams({ owner })}`} variant="default">
        Show the assets
      </Button>
    </Group>
    {erasureId !== null && <Erasure owner={owner} id={erasureId} />}
    <UsageNow owner={owner} />
    <OwnerLimits owner={owner} />
    <ExportOwner owner={owner} />
    <ImportOwner owner={owner} />
    <EraseOwner owner={owner} />
  </Stack>
);

function UsageNow({ owner }: { readonly owner: string }) {
  const query = useQuery(ownerQuery(owner));
  return (
    <Section title="Usage" about="Now, with the trash and open uploads.">
      <Loaded query={query}>
        {({
          bytes,
          max_bytes: maxBytes,
          assets,
          max_assets: maxAssets,
          pending,
          max_pending: maxPending,
        }) => (
          <SimpleGrid cols={{ base: 1, xs: 3 }}>
            <div>
              <Text fw={600}>Bytes</Text>
              <Meter used={bytes} max={maxBytes} format={formatBytes} label="Bytes" />
            </div>
            <div>
              <Text fw={600}>Assets</Text>
              <Meter used={assets} max={maxAssets} format={formatCount} label="Assets" />
            </div>
            <div>
              <Text fw={600}>Open uploads</Text>
              <Meter used={pending} max={maxPending} format={formatCount} label="Open uploads" />
            </div>
          </SimpleGrid>
        )}
      </Loaded>
    </Section>
  );
}
