// One endpoint: its state, what people do with it, and what it received.
import type { WebhookEndpoint } from '@mediary/client';
import { Alert, Anchor, Group, Stack, Text, Title } from '@mantine/core';
import { ENDPOINT_PAUSE_REASONS } from '@mediary/contract/enums';
import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { endpointQuery } from '../../../api/webhooks.ts';
import { Time } from '../../../parts/time.tsx';
import { EndpointActions } from './endpoint-actions.tsx';
import { EndpointStatus } from './endpoints.tsx';
import { SentEvents } from './sent-events.tsx';

export function EndpointScreen({ id }: { readonly id: string }) {
  const { data: endpoint } = useSuspenseQuery(endpointQuery(id));
  const { url, description, events, created_at: createdAt } = endpoint;
  return (
    <Stack maw={960}>
      <Anchor component={Link} href="/webhooks/endpoints" size="sm">
        Own endpoints
      </Anchor>
      <Stack gap={4}>
        <Title order={1} size="h3" className="break-anywhere">
          {url}
        </Title>
        <Group gap="xs">
          <EndpointStatus endpoint={endpoint} />
          <Text size="sm" c="dimmed">
            Created <Time at={createdAt} />
          </Text>
        </Group>
        {description !== null && (
          <Text className="break-anywhere" dir="auto">
            {description}
          </Text>
        )}
        <Text size="sm" c="dimmed" className="break-anywhere">
          {events.length === 0 ? 'It gets all events.' : `It gets ${events.join(', ')}.`}
        </Text>
      </Stack>
      <EndpointProblems endpoint={endpoint} />
      <EndpointActions endpoint={endpoint} />
      <SentEvents endpoint={endpoint} />
    </Stack>
  );
}

function EndpointProblems({ endpoint }: { readonly endpoint: WebhookEndpoint }) {
  const {
    paused_reason: reason,
    paused_at: pausedAt,
    failing_since: failingSince,
    previous_secret_expires_at: oldSecret,
  } = endpoint;
  return (
    <>
      {reason !== null && (
        <Alert color="red" title="The service paused this endpoint">
          {ENDPOINT_PAUSE_REASONS[reason]} {pausedAt !== null && <Time at={pausedAt} />} Resume it, then
          resend what it missed.
        </Alert>
      )}
      {reason === null && failingSince !== null && (
        <Alert color="yellow">
          Every attempt has failed since <Time at={failingSince} />. Events wait and are sent again.
        </Alert>
      )}
      {oldSecret !== null && Date.parse(oldSecret) > Date.now() && (
        <Alert color="gray">
          The previous secret also signs; it ends <Time at={oldSecret} />.
        </Alert>
      )}
    </>
  );
}
