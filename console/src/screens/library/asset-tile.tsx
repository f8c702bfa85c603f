// An asset in the grid: its picture, name and state.
import type { Asset } from '@mediary/client';
import { Badge, Button, Checkbox, Group, Text } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { Link } from 'wouter';
import { mediary } from '../../api/mediary.ts';
import { formatBytes, formatDuration } from '../../parts/format.ts';
import { Icon } from '../../parts/icon.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { ownerOptions, useAction } from '../../parts/use-action.ts';
import type { Selection } from './bulk/use-selection.ts';
import { Thumbnail } from './thumbnail.tsx';

type TileProps = {
  readonly asset: Asset;
  readonly session: ConsoleSession;
  readonly selection: Selection;
};

export const AssetTile = ({ asset, session, selection }: TileProps) => (
  <div className="tile-frame" data-selected={selection.has(asset.id)}>
    <Checkbox
      className="tile-choice"
      aria-label={`Select ${asset.title ?? asset.filename}`}
      checked={selection.has(asset.id)}
      // The click has the shift key, of the keyboard too.
      onClick={({ shiftKey }) => selection.toggle(asset, shiftKey)}
      onChange={() => {}}
    />
    {asset.deleted_at === null ? (
      <Link href={`/assets/${asset.id}`} className="tile">
        <TileContent asset={asset} />
      </Link>
    ) : (
      <DeletedTile asset={asset} session={session} />
    )}
  </div>
);

/** An asset in the trash has no page: it can be restored. */
function DeletedTile({ asset, session }: Omit<TileProps, 'selection'>) {
  const act = useAction();
  const restore = () => mediary.media.restore(asset.id, ownerOptions(session, asset));
  return (
    <div className="tile">
      <TileContent asset={asset} />
      <Button size="xs" variant="default" mt={6} loading={act.isPending} onClick={() => act.mutate(restore)}>
        Restore
      </Button>
    </div>
  );
}

function TileContent({ asset }: { readonly asset: Asset }) {
  const name = asset.title ?? asset.filename;
  return (
    <>
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
    </>
  );
}
