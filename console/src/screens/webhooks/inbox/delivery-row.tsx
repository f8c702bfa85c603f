// One webhook of a provider in the list.
import { Badge, Group, Paper, Text } from '@mantine/core';
import { DELIVERY_REASONS } from '@mediary/contract/enums';
import { Link } from 'wouter';
import type { ProviderDelivery } from '../../../api/webhooks.ts';
import { Time } from '../../../parts/time.tsx';

const COLORS: Readonly<Partial<Record<ProviderDelivery['reason'], string>>> = {
  applied: 'teal',
  parked: 'yellow',
  wrong_provider: 'red',
  wrong_library: 'red',
  refused: 'red',
};

export const ReasonBadge = ({ reason }: Pick<ProviderDelivery, 'reason'>) => (
  <Badge variant="dot" color={COLORS[reason] ?? 'gray'}>
    {reason.replaceAll('_', ' ')}
  </Badge>
);

export const DeliveryRow = ({ delivery }: { readonly delivery: ProviderDelivery }) => {
  const { id, provider, reason, asset_id: assetId, provider_video_id: videoId, created_at: at } = delivery;
  return (
    <Paper component={Link} href={`/webhooks/deliveries/${id}`} withBorder p="sm" className="row-link">
      <Group gap="xs" justify="space-between">
        <Group gap="xs">
          <ReasonBadge reason={reason} />
          <Text size="sm" fw={600}>
            {provider}
          </Text>
        </Group>
        <Text size="xs" c="dimmed">
          <Time at={at} />
        </Text>
      </Group>
      <Text size="sm" mt={4}>
        {DELIVERY_REASONS[reason]}
      </Text>
      <Text size="xs" c="dimmed" className="break-anywhere">
        {assetId !== null && `Asset ${assetId}`}
        {assetId !== null && videoId !== null && ' · '}
        {videoId !== null && `Video ${videoId}`}
      </Text>
    </Paper>
  );
};
