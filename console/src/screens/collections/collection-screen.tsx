// One collection: its assets in their order, and how people change it.
import { Anchor, Group, Stack, Text, Title } from '@mantine/core';
import type { Collection } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useInfiniteQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { refreshAssets } from '../../api/assets.ts';
import { collectionItemsQuery, collectionQuery, toOwner } from '../../api/collections.ts';
import { mediary } from '../../api/mediary.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { NothingHere } from '../../parts/nothing-here.tsx';
import { ShowMore } from '../../parts/rows.tsx';
import { Loaded } from '../../parts/section.tsx';
import { EditCollection } from './collection-editor.tsx';
import { CollectionItems } from './collection-items.tsx';
import { CollectionVisibility, formatAssetCount } from './collections.tsx';

type CollectionScreenProps = { readonly id: string; readonly session: ConsoleSession };

export function CollectionScreen({ id, session }: CollectionScreenProps) {
  const { data: collection } = useSuspenseQuery(collectionQuery(id));
  const query = useInfiniteQuery(collectionItemsQuery(id));
  const list = `/collections?${new URLSearchParams({ owner: collection.owner_user_id })}`;
  return (
    <Stack>
      <Anchor component={Link} href={session.kind === 'user' ? '/collections' : list} size="sm">
        Collections
      </Anchor>
      <Group justify="space-between" align="flex-start">
        <Stack gap={4} style={{ minWidth: 0, flex: 1 }}>
          <Title order={1} size="h2" className="break-anywhere" dir="auto">
            {collection.name}
          </Title>
          <Group gap="xs">
            <CollectionVisibility collection={collection} />
            <Text size="sm" c="dimmed" className="break-anywhere">
              {formatAssetCount(collection)} · {collection.owner_user_id}
            </Text>
          </Group>
          {collection.description !== null && (
            <Text size="sm" className="break-anywhere" dir="auto">
              {collection.description}
            </Text>
          )}
        </Stack>
        <CollectionActions collection={collection} session={session} listAddress={list} />
      </Group>
      <Loaded query={query}>
        {({ pages }) => {
          const items = pages.flatMap((page) => page.items);
          return items.length === 0 ? (
            <NothingHere
              title="No assets in it"
              text="Open an asset of the library, and add it to this collection there."
            />
          ) : (
            <CollectionItems collection={collection} session={session} items={items} />
          );
        }}
      </Loaded>
      <ShowMore query={query} />
    </Stack>
  );
}

type ActionsProps = {
  readonly collection: Collection;
  readonly session: ConsoleSession;
  readonly listAddress: string;
};

function CollectionActions({ collection, session, listAddress }: ActionsProps) {
  const { id, name, owner_user_id: owner } = collection;
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const options = toOwner(session, owner);
  return (
    <Group gap="xs">
      <EditCollection session={session} collection={collection} />
      <ConfirmButton
        label="Delete"
        name={`Delete ${name}`}
        title="Delete this collection?"
        confirm="Delete the collection"
        action={() => mediary.collections.delete(id, options)}
        onDone={() => {
          navigate(session.kind === 'user' ? '/collections' : listAddress);
          void refreshAssets(queries);
        }}
      >
        The collection <bdi>{name}</bdi> is deleted for good. Its assets stay.
      </ConfirmButton>
    </Group>
  );
}
