// The collections that an asset is in, and how people add it to another one.
import { Anchor, Button, Group, Select, Stack, Text } from '@mantine/core';
import type { Asset } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { collectionsQuery, toOwner } from '../../api/collections.ts';
import { mediary } from '../../api/mediary.ts';
import { Loaded, Section } from '../../parts/section.tsx';
import { useAction } from '../../parts/use-action.ts';

type AssetCollectionsProps = { readonly asset: Asset; readonly session: ConsoleSession };

export function AssetCollections({ asset, session }: AssetCollectionsProps) {
  const query = useInfiniteQuery(collectionsQuery(session, asset.owner_user_id));
  return (
    <Section title="Collections">
      <Loaded query={query}>
        {({ pages }) => (
          <Membership
            asset={asset}
            session={session}
            names={new Map(pages.flatMap(({ items }) => items.map(({ id, name }) => [id, name])))}
          />
        )}
      </Loaded>
    </Section>
  );
}

type MembershipProps = AssetCollectionsProps & { readonly names: ReadonlyMap<string, string> };

function Membership({ asset, session, names }: MembershipProps) {
  const act = useAction();
  const [chosen, setChosen] = useState<string | null>(null);
  const memberOf = asset.collections ?? [];
  const others = [...names].filter(([id]) => !memberOf.includes(id));
  const add = () => {
    if (chosen === null) return;
    const options = toOwner(session, asset.owner_user_id);
    act.mutate(() => mediary.collections.add(chosen, [asset.id], {}, options));
    setChosen(null);
  };
  return (
    <Stack gap="xs">
      {memberOf.length === 0 && (
        <Text size="sm" c="dimmed">
          {names.size === 0 ? 'The owner has no collections yet.' : 'The asset is in no collection.'}
        </Text>
      )}
      {memberOf.map((id) => (
        <Anchor key={id} component={Link} href={`/collections/${id}`} size="sm" className="break-anywhere">
          <bdi>{names.get(id) ?? id}</bdi>
        </Anchor>
      ))}
      {others.length > 0 && (
        <Group gap="xs" align="flex-end" wrap="nowrap">
          <Select
            aria-label="Collection"
            placeholder="Choose a collection"
            data={others.map(([value, label]) => ({ value, label }))}
            value={chosen}
            onChange={setChosen}
            searchable
            style={{ flex: 1 }}
          />
          <Button variant="default" onClick={add} disabled={chosen === null} loading={act.isPending}>
            Add
          </Button>
        </Group>
      )}
    </Stack>
  );
}
