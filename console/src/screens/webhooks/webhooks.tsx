// Webhooks in both directions: from providers to the service, and from the service to endpoints.
import { Stack, Tabs, Text, Title } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useLocation } from 'wouter';
import { NothingHere } from '../../parts/nothing-here.tsx';
import { Endpoints } from './endpoints/endpoints.tsx';
import { Inbox } from './inbox/inbox.tsx';

type WebhooksProps = { readonly session: ConsoleSession; readonly view: 'inbox' | 'endpoints' };

/** Operators see both; services only send. */
export function Webhooks({ session, view }: WebhooksProps) {
  const [, navigate] = useLocation();
  const isOperator = session.kind === 'operator';
  const shown = isOperator ? view : 'endpoints';
  return (
    <Stack>
      <div>
        <Title order={1} size="h2">
          Webhooks
        </Title>
        <Text c="dimmed">
          {shown === 'inbox'
            ? 'What providers and encoders reported, and what the service did with it.'
            : 'Where the service sends its events, and what the receivers responded.'}
        </Text>
      </div>
      {session.kind === 'user' && (
        <NothingHere title="Not for users" text="Sign in with the operator key or a service key." />
      )}
      {isOperator && (
        <Tabs
          value={shown}
          onChange={(name) => navigate(name === 'endpoints' ? '/webhooks/endpoints' : '/webhooks')}
        >
          <Tabs.List>
            <Tabs.Tab value="inbox">From providers</Tabs.Tab>
            <Tabs.Tab value="endpoints">Own endpoints</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="inbox" pt="md">
            {shown === 'inbox' && <Inbox />}
          </Tabs.Panel>
          <Tabs.Panel value="endpoints" pt="md">
            {shown === 'endpoints' && <Endpoints />}
          </Tabs.Panel>
        </Tabs>
      )}
      {session.kind === 'service' && <Endpoints />}
    </Stack>
  );
}
