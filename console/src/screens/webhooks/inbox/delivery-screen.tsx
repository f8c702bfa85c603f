// One webhook of a provider: why it changed an asset or not, its body and headers, and its replay.
import {
  Alert,
  Anchor,
  Button,
  Code,
  CopyButton,
  Group,
  Paper,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core';
import { DELIVERY_REASONS } from '@mediary/contract/enums';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { deliveryQuery, type FullDelivery } from '../../../api/webhooks.ts';
import { formatLatency } from '../../../parts/format.ts';
import { Time } from '../../../parts/time.tsx';
import { ReasonBadge } from './delivery-row.tsx';
import { Replay } from './replay.tsx';

export function DeliveryScreen({ id }: { readonly id: string }) {
  const { data: delivery } = useSuspenseQuery(deliveryQuery(id));
  const [isReplaying, setReplaying] = useState(false);
  const { provider, reason, asset_id: assetId, created_at: at, latency_ms: latency } = delivery;
  return (
    <Stack maw={960}>
      <Anchor component={Link} href="/webhooks" size="sm">
        Webhooks
      </Anchor>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={1} size="h2">
            Webhook of {provider}
          </Title>
          <Text size="sm" c="dimmed">
            <Time at={at} /> · recorded after {formatLatency(latency)}
          </Text>
        </div>
        {!isReplaying && <Button onClick={() => setReplaying(true)}>Replay</Button>}
      </Group>
      <Paper withBorder p="md">
        <Stack gap="xs">
          <Group gap="xs">
            <ReasonBadge reason={reason} />
            <Text size="sm">{DELIVERY_REASONS[reason]}</Text>
          </Group>
          <Facts delivery={delivery} />
          {assetId !== null && (
            <Anchor component={Link} href={`/assets/${assetId}`} size="sm">
              Show the asset
            </Anchor>
          )}
        </Stack>
      </Paper>
      {isReplaying && <Replay request={{ id }} onClose={() => setReplaying(false)} />}
      <Body delivery={delivery} />
      <Headers headers={delivery.headers} />
    </Stack>
  );
}

const Facts = ({ delivery: { id, asset_id: asset, provider_video_id: video } }: DeliveryProps) => (
  <Text size="sm" c="dimmed" className="break-anywhere">
    Delivery {id}
    {asset !== null && ` · asset ${asset}`}
    {video !== null && ` · video ${video}`}
  </Text>
);

type DeliveryProps = { readonly delivery: FullDelivery };

function Body({ delivery: { body, body_base64: base64 } }: DeliveryProps) {
  const text = body ?? base64;
  return (
    <Paper withBorder p="md" component="section">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Body
        </Title>
        <CopyButton value={text}>
          {({ copied, copy }) => (
            <Button size="xs" variant="default" onClick={copy}>
              {copied ? 'Copied' : 'Copy the raw body'}
            </Button>
          )}
        </CopyButton>
      </Group>
      {body === null && <Alert color="gray">The body is not UTF-8. It is shown in Base64.</Alert>}
      <Code block tabIndex={0} className="wrapped-code" mah={480} style={{ overflowY: 'auto' }}>
        {text === '' ? '(empty)' : text}
      </Code>
    </Paper>
  );
}

const Headers = ({ headers }: Pick<FullDelivery, 'headers'>) => (
  <Paper withBorder p="md" component="section">
    <Title order={2} size="h4" mb="xs">
      Headers
    </Title>
    <Text size="xs" c="dimmed" mb="xs">
      Signatures are not stored.
    </Text>
    <Table layout="fixed" verticalSpacing={4}>
      <Table.Tbody>
        {Object.entries(headers).map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th w="40%" fw={400} c="dimmed" className="break-anywhere">
              {name}
            </Table.Th>
            <Table.Td className="break-anywhere">{value}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Paper>
);
