// Named service keys: which back ends may do what.
import { Badge, Group, Stack, Switch, Text, Title } from '@mantine/core';
import type { ServiceKey } from '@mediary/contract/schemas/admin/service-keys';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { revokeServiceKey, serviceKeysQuery } from '../../api/service-keys.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { type Column, Rows, ShowMore } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';
import { NewKey } from './new-key.tsx';

export function Keys() {
  const [showsRevoked, setShowsRevoked] = useState(false);
  const query = useInfiniteQuery(serviceKeysQuery(showsRevoked));
  return (
    <Stack gap="lg">
      <div>
        <Title order={1} size="h2">
          Service keys
        </Title>
        <Text c="dimmed">Give each back end a key of its own, with what it needs and no more.</Text>
      </div>
      <Section
        title="Keys"
        aside={
          <>
            <Switch
              label="Also revoked ones"
              checked={showsRevoked}
              onChange={({ currentTarget }) => setShowsRevoked(currentTarget.checked)}
            />
            <NewKey />
          </>
        }
      >
        <Loaded query={query}>
          {({ pages }) => (
            <Rows
              label="Service keys"
              rows={pages.flatMap(({ items }) => items)}
              keyOf={({ id }) => id}
              columns={COLUMNS}
              empty="No named key yet: back ends use SERVICE_API_KEY, which may do everything. Create a key for each of them."
            />
          )}
        </Loaded>
        <ShowMore query={query} />
      </Section>
    </Stack>
  );
}

const COLUMNS: readonly Column<ServiceKey>[] = [
  {
    label: 'Name',
    render: ({ name, key_hint: hint, revoked_at: revoked }) => (
      <div>
        <bdi>{name}</bdi>
        <Text size="xs" c="dimmed">
          ends with {hint}
        </Text>
        {revoked !== null && (
          <Badge variant="dot" color="gray">
            Revoked
          </Badge>
        )}
      </div>
    ),
  },
  {
    label: 'May',
    width: '20%',
    render: ({ scopes }) => (
      <Group gap={4}>
        {scopes.map((scope) => (
          <Badge key={scope} variant="default">
            {scope}
          </Badge>
        ))}
      </Group>
    ),
  },
  {
    label: 'Owners',
    render: ({ owner_prefixes: prefixes }) =>
      prefixes.length === 0
        ? 'All'
        : prefixes.map((prefix) => (
            <div key={prefix}>
              <bdi>{prefix}</bdi>…
            </div>
          )),
  },
  {
    label: 'Used',
    width: 190,
    render: ({ last_used_at: used, created_at: created, expires_at: expires }) => (
      <div>
        {used === null ? 'Never' : <Time at={used} />}
        <Text size="xs" c="dimmed">
          created <Time at={created} />
          {expires !== null && (
            <>
              , expires <Time at={expires} />
            </>
          )}
        </Text>
      </div>
    ),
  },
  {
    label: 'Action',
    width: 110,
    render: ({ id, name, revoked_at: revoked }) =>
      revoked === null ? (
        <ConfirmButton
          label="Revoke"
          name={`Revoke ${name}`}
          title="Revoke this key?"
          confirm="Revoke the key"
          action={() => revokeServiceKey(id)}
        >
          Requests with the key <bdi>{name}</bdi> are refused within 3 s, for good.
        </ConfirmButton>
      ) : null,
  },
];
