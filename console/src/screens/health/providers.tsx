// Video providers and encoders: whether they are set up, and how they respond.
import { Badge, Stack, Text } from '@mantine/core';
import type { ProviderOverview } from '@mediary/contract/schemas/admin/operators';
import { useQuery } from '@tanstack/react-query';
import { providersQuery } from '../../api/health.ts';
import { formatCountOf } from '../../parts/format.ts';
import { type Column, Rows } from '../../parts/rows.tsx';
import { Loaded, Section } from '../../parts/section.tsx';
import { Time } from '../../parts/time.tsx';

export function Providers() {
  const query = useQuery(providersQuery);
  return (
    <Section title="Providers" about="A circuit opens after repeated failures: calls then fail at once.">
      <Loaded query={query}>
        {({ items }) => (
          <Rows
            label="Providers"
            rows={items}
            keyOf={({ name }) => name}
            columns={COLUMNS}
            empty="This service has no provider."
          />
        )}
      </Loaded>
    </Section>
  );
}

const COLUMNS: readonly Column<ProviderOverview>[] = [
  {
    label: 'Provider',
    width: 140,
    render: ({ name, kind }) => (
      <div>
        {name}
        <Text size="xs" c="dimmed">
          {kind}
        </Text>
      </div>
    ),
  },
  { label: 'Settings', render: (provider) => <Settings provider={provider} /> },
  { label: 'Circuit', render: (provider) => <Circuit provider={provider} /> },
  {
    label: 'Last response',
    render: ({ last_answer_at: at, last_failure: failure }) => (
      <div>
        {at === null ? 'None yet' : <Time at={at} />}
        {failure !== null && (
          <Text size="xs" c="dimmed">
            last failure: {failure}
          </Text>
        )}
      </div>
    ),
  },
  {
    label: 'Last webhook',
    render: ({ last_webhook_at: at, last_webhook_reason: reason }) => (
      <div>
        {at === null ? 'None yet' : <Time at={at} />}
        {reason !== null && (
          <Text size="xs" c="dimmed">
            {reason}
          </Text>
        )}
      </div>
    ),
  },
];

type CellProps = { readonly provider: ProviderOverview };

const Settings = ({ provider: { configured, missing_settings: missing } }: CellProps) => (
  <Stack gap={2} align="flex-start">
    <Badge variant="dot" color={configured ? 'teal' : 'gray'}>
      {configured ? 'Set up' : 'Not set up'}
    </Badge>
    {missing.length > 0 && (
      <Text size="xs" c="dimmed">
        Set {missing.join(', ')} to use it.
      </Text>
    )}
  </Stack>
);

const Circuit = ({ provider: { circuit, processes } }: CellProps) => {
  const affected = processes.filter((process) => process.circuit.open);
  return (
    <Stack gap={2} align="flex-start">
      <Badge variant="dot" color={circuit.open ? 'red' : 'teal'}>
        {circuit.open ? 'Open' : 'Closed'}
      </Badge>
      <Text size="xs" c="dimmed">
        {circuit.open_until !== null && (
          <>
            next try <Time at={circuit.open_until} />.{' '}
          </>
        )}
        {circuit.failures > 0 && `${formatCountOf(circuit.failures, 'failure')} in a row. `}
        {affected.length > 0 && `In ${affected.map(({ host }) => host).join(', ')}`}
      </Text>
    </Stack>
  );
};
