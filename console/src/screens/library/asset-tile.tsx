// An asset in the grid: its picture, name and state.
import type { Asset } from '@mediary/client';
import { Badge, Group, Text } from '@mantine/core';
import { Link } from 'wouter';
import { formatBytes, formatDuration } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { Thumbnail } from './thumbnail.tsx';

export function AssetTile({ asset }: { readonly asset: Asset }) {
  const name = asset.title ?? asset.filename;
  return (
    <Link href={`/assets/${asset.id}`} className="tile">
      <div className="tile-picture">
        <Thumbnail asset={asset} />
        {asset.duration_ms !== null && (
          <Badge className="tile-label" color="dark" variant="filled">
            {formatDuration(asset.duration_ms)}
          </Badge>
        )}
      </div>
      <Group gap="xs" mt={6} wrap="nowrap" justify="space-between">
        <Text size="sm" fw={600} truncate title={name} dir="auto">
          {name}
        </Text>
        {asset.stream_status === 'failed' ? <Icon name="alert" size={16} /> : null}
      </Group>
      <Group gap="xs" wrap="nowrap">
        {asset.stream_status === 'ready' && !asset.deleted_at ? (
          <Text size="xs" c="dimmed" truncate>
            <Time at={asset.created_at} />
            {asset.size_bytes !== null && ` · ${formatBytes(asset.size_bytes)}`}
          </Text>
        ) : (
          <Status asset={asset} />
        )}
      </Group>
    </Link>
  );
}
