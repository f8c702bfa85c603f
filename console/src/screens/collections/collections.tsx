// The collections of one owner.
import { Badge, Group, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import type { Collection } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { collectionsQuery } from '../../api/collections.ts';
import { formatCountOf } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { NothingHere } from '../../parts/nothing-here.tsx';
import { ShowMore } from '../../parts/rows.tsx';
import { Loaded } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { useAddressQuery } from '../../parts/use-address-query.ts';
import { NewCollection } from './collection-editor.tsx';

const SEARCH_AFTER_MS = 250;

export function Collections({ session }: { readonly session: ConsoleSession }) {
  const [, navigate] = useLocation();
  const named = new URLSearchParams(useAddressQuery()).get('owner') ?? '';
  const owner = session.owner_user_id ?? named;
  const setOwner = useDebouncedCallback((text: string) => {
    navigate(text === '' ? '/collections' : `/collections?${new URLSearchParams({ owner: text })}`, {
      replace: true,
    });
  }, SEARCH_AFTER_MS);
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Collections
        </Title>
        {owner !== '' && <NewCollection session={session} owner={owner} />}
      </Group>
      {session.owner_user_id === null && (
        <TextInput
          aria-label="Owner"
          placeholder="Id of the owner"
          leftSection={<Icon name="owners" size={16} />}
          defaultValue={named}
          onChange={({ currentTarget }) => setOwner(currentTarget.value)}
          type="search"
          w={220}
        />
      )}
      {owner === '' ? (
        <NothingHere title="Whose collections?" text="Name an owner: a collection belongs to one." />
      ) : (
        <CollectionList key={owner} session={session} owner={owner} />
      )}
    </Stack>
  );
}

function CollectionList({ session, owner }: { readonly session: ConsoleSession; readonly owner: string }) {
  const query = useInfiniteQuery(collectionsQuery(session, owner));
  return (
    <>
      <Loaded query={query}>
        {({ pages }) => {
          const collections = pages.flatMap(({ items }) => items);
          return collections.length === 0 ? (
            <NothingHere
              title="No collections yet"
              text="A collection is a named, ordered list of assets, such as an album or a season."
            />
          ) : (
            <Stack gap="xs" component="section" aria-label="Collections">
              {collections.map((collection) => (
                <CollectionRow key={collection.id} collection={collection} />
              ))}
            </Stack>
          );
        }}
      </Loaded>
      <ShowMore query={query} />
    </>
  );
}

const CollectionRow = ({ collection }: { readonly collection: Collection }) => (
  <Paper component={Link} href={`/collections/${collection.id}`} withBorder p="sm" className="row-link">
    <Group gap="xs" justify="space-between">
      <Text size="sm" fw={600} className="break-anywhere" dir="auto">
        {collection.name}
      </Text>
      <CollectionVisibility collection={collection} />
    </Group>
    <Text size="xs" c="dimmed">
      {formatAssetCount(collection)} · changed <Time at={collection.updated_at} />
    </Text>
  </Paper>
);

export const formatAssetCount = ({ asset_count: count }: Collection): string => formatCountOf(count, 'asset');

export const CollectionVisibility = ({ collection }: { readonly collection: Collection }) => (
  <Badge variant="dot" color={collection.visibility === 'public' ? 'teal' : 'gray'}>
    {collection.visibility}
  </Badge>
);
