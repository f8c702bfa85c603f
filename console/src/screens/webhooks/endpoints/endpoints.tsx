// The endpoints to which the service sends events.
import { Badge, Button, Group, Loader, Modal, Paper, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { WebhookEndpoint } from '@mediary/client';
import { endpointsQuery } from '../../../api/webhooks.ts';
import { NothingHere } from '../../../parts/nothing-here.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Time } from '../../../parts/time.tsx';
import { EndpointForm } from './endpoint-form.tsx';

export function Endpoints() {
  const list = useInfiniteQuery(endpointsQuery);
  const [isCreating, setCreating] = useState(false);
  const endpoints = list.data?.pages.flatMap(({ items }) => items) ?? [];
  const create = <Button onClick={() => setCreating(true)}>Create an endpoint</Button>;
  return (
    <Stack>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.isLoading && <Loader size="sm" aria-label="Reading the endpoints" />}
      {endpoints.length > 0 && <Group justify="flex-end">{create}</Group>}
      {list.isSuccess && endpoints.length === 0 && (
        <NothingHere
          title="No endpoints yet"
          text="An endpoint is a URL of your application. It receives each event, such as asset.ready, signed."
        >
          {create}
        </NothingHere>
      )}
      <Stack gap="xs" component="section" aria-label="Endpoints">
        {endpoints.map((endpoint) => (
          <EndpointRow key={endpoint.id} endpoint={endpoint} />
        ))}
      </Stack>
      {list.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show more
          </Button>
        </Group>
      )}
      <Modal
        opened={isCreating}
        onClose={() => setCreating(false)}
        title="Create an endpoint"
        closeButtonProps={{ 'aria-label': 'Close' }}
        // The secret in it is shown once.
        closeOnClickOutside={false}
        closeOnEscape={false}
      >
        <EndpointForm endpoint={undefined} onDone={() => setCreating(false)} />
      </Modal>
    </Stack>
  );
}

const COLORS = { enabled: 'teal', disabled: 'gray', paused: 'red' } as const;

export const EndpointStatus = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => (
  <Badge variant="dot" color={COLORS[endpoint.status]}>
    {endpoint.status}
  </Badge>
);

const EndpointRow = ({ endpoint }: { readonly endpoint: WebhookEndpoint }) => {
  const { id, url, description, events, failing_since: failingSince } = endpoint;
  return (
    <Paper component={Link} href={`/webhooks/endpoints/${id}`} withBorder p="sm" className="row-link">
      <Group gap="xs" justify="space-between">
        <Text size="sm" fw={600} className="break-anywhere">
          {url}
        </Text>
        <EndpointStatus endpoint={endpoint} />
      </Group>
      {description !== null && (
        <Text size="sm" className="break-anywhere" dir="auto">
          {description}
        </Text>
      )}
      <Text size="xs" c="dimmed" className="break-anywhere">
        {events.length === 0 ? 'All events' : events.join(', ')}
        {failingSince !== null && (
          <>
            {' '}
            · failing since <Time at={failingSince} />
          </>
        )}
      </Text>
    </Paper>
  );
};
