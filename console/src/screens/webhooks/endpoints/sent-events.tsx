// What was sent to an endpoint: each event with its attempts, newest first.
import type { DeliveryAttempt, EndpointDelivery, WebhookEndpoint } from '@mediary/client';
import {
  Anchor,
  Badge,
  Button,
  Code,
  Group,
  Loader,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Title,
  UnstyledButton,
} from '@mantine/core';
import { ENDPOINT_DELIVERY_STATES, type EndpointDeliveryState } from '@mediary/contract/enums';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { mediary } from '../../../api/mediary.ts';
import { sentQuery } from '../../../api/webhooks.ts';
import { formatCountOf, formatLatency } from '../../../parts/format.ts';
import { NothingHere } from '../../../parts/nothing-here.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Time } from '../../../parts/time.tsx';

const STATES = [
  { value: 'all', label: 'All' },
  ...ENDPOINT_DELIVERY_STATES.map((state) => ({ value: state, label: state })),
];

export function SentEvents({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const [state, setState] = useState<EndpointDeliveryState>();
  const list = useInfiniteQuery(sentQuery(endpoint.id, state));
  const sent = list.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Stack component="section" aria-label="Deliveries" gap="sm">
      <Group justify="space-between">
        <Title order={2} size="h4">
          Deliveries
        </Title>
        <SegmentedControl
          size="xs"
          data={STATES}
          value={state ?? 'all'}
          onChange={(value) => setState(ENDPOINT_DELIVERY_STATES.find((name) => name === value))}
          aria-label="State of deliveries"
        />
      </Group>
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {list.isLoading && <Loader size="sm" aria-label="Reading the deliveries" />}
      {list.isSuccess && sent.length === 0 && (
        <NothingHere
          title={state === undefined ? 'Nothing sent yet' : `Nothing is ${state}`}
          text="Each event of an asset is sent here from now on. Send a test event to try the endpoint."
        />
      )}
      {sent.map((delivery) => (
        <SentEvent key={delivery.id} delivery={delivery} endpointId={endpoint.id} />
      ))}
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

const COLORS = { pending: 'blue', delivered: 'teal', failed: 'red' } as const;

type SentProps = { readonly delivery: EndpointDelivery; readonly endpointId: string };

function SentEvent({ delivery, endpointId }: SentProps) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { id, type, state, asset_id: assetId, attempts, next_attempt_at: nextAt, created_at: at } = delivery;
  const resend = useMutation({
    mutationFn: () => mediary.webhookEndpoints.resend(endpointId, id),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', 'sent'] }),
  });
  return (
    <Paper withBorder p="sm" data-delivery={state}>
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Badge variant="dot" color={COLORS[state]}>
            {state}
          </Badge>
          <Text size="sm" fw={600}>
            {type}
          </Text>
        </Group>
        <Button
          size="xs"
          variant="default"
          loading={resend.isPending}
          onClick={() => resend.mutate()}
          aria-label={`${state === 'pending' ? 'Send now' : 'Resend'} ${type}`}
        >
          {state === 'pending' ? 'Send now' : 'Resend'}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" mt={4}>
        <Time at={at} /> ·{' '}
        <Anchor component={Link} href={`/assets/${assetId}`} size="xs" underline="always">
          asset
        </Anchor>{' '}
        ·{' '}
        <UnstyledButton fz="xs" td="underline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {formatCountOf(attempts.length, 'attempt')}
        </UnstyledButton>
        {nextAt !== null && (
          <>
            {' '}
            · next attempt <Time at={nextAt} />
          </>
        )}
      </Text>
      {resend.error && <Problem error={resend.error} />}
      {isOpen && attempts.map((attempt) => <Attempt key={attempt.at} attempt={attempt} />)}
    </Paper>
  );
}

const Attempt = ({
  attempt: { at, status, error, latency_ms: latency, response_head: head },
}: AttemptProps) => (
  <Stack gap={2} mt="xs">
    <Text size="sm" className="break-anywhere">
      {status === null ? `No response: ${error}` : `Status ${status}`} · after {formatLatency(latency)} ·{' '}
      <Time at={at} />
    </Text>
    {head && (
      <Code block tabIndex={0} className="wrapped-code">
        {head}
      </Code>
    )}
  </Stack>
);

type AttemptProps = { readonly attempt: DeliveryAttempt };
