// The assets of a collection in their order, with buttons that move and remove them.
import { ActionIcon, Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import type { Collection, CollectionItem, CollectionPlace } from '@mediary/client';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { Link } from 'wouter';
import { toOwner } from '../../api/collections.ts';
import { mediary } from '../../api/mediary.ts';
import { Icon, type IconName } from '../../parts/icon.tsx';
import { Status } from '../../parts/status.tsx';
import { useAction } from '../../parts/use-action.ts';
import { Thumbnail } from '../../parts/thumbnail.tsx';

type ItemsProps = {
  readonly collection: Collection;
  readonly session: ConsoleSession;
  readonly items: readonly CollectionItem[];
};

export function CollectionItems({ collection, session, items }: ItemsProps) {
  const act = useAction();
  const { id, owner_user_id: owner } = collection;
  const options = toOwner(session, owner);
  const move = (assetId: string, place: CollectionPlace) =>
    act.mutate(() => mediary.collections.move(id, assetId, place, options));
  const remove = (assetId: string) => act.mutate(() => mediary.collections.remove(id, assetId, options));
  return (
    <Stack gap="xs" component="ol" aria-label="Assets of the collection" className="collection-items">
      {items.map(({ asset }, index) => (
        <ItemRow
          key={asset.id}
          asset={asset}
          before={items[index - 1]?.asset.id}
          after={items[index + 1]?.asset.id}
          isBusy={act.isPending}
          onMove={(place) => move(asset.id, place)}
          onRemove={() => remove(asset.id)}
        />
      ))}
    </Stack>
  );
}

type RowProps = {
  readonly asset: CollectionItem['asset'];
  /** The neighbours; undefined at the ends. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly isBusy: boolean;
  readonly onMove: (place: CollectionPlace) => void;
  readonly onRemove: () => void;
};

function ItemRow({ asset, before, after, isBusy, onMove, onRemove }: RowProps) {
  const name = asset.title ?? asset.filename;
  return (
    <Paper component="li" withBorder p="xs">
      <Group gap="sm" wrap="nowrap">
        <div className="tile-picture collection-picture">
          <Thumbnail asset={asset} />
        </div>
        <Stack gap={2} style={{ minWidth: 0, flex: 1 }}>
          <Anchor component={Link} href={`/assets/${asset.id}`} size="sm" fw={600} truncate dir="auto">
            {name}
          </Anchor>
          {asset.stream_status === 'ready' ? (
            <Text size="xs" c="dimmed">
              {asset.kind}, {asset.visibility}
            </Text>
          ) : (
            <Status asset={asset} />
          )}
        </Stack>
        <Group gap={2} wrap="nowrap">
          <ItemButton
            icon="up"
            label={`Move ${name} up`}
            isDisabled={isBusy || before === undefined}
            onClick={() => onMove({ before })}
          />
          <ItemButton
            icon="down"
            label={`Move ${name} down`}
            isDisabled={isBusy || after === undefined}
            onClick={() => onMove({ after })}
          />
          <ItemButton icon="close" label={`Remove ${name}`} isDisabled={isBusy} onClick={onRemove} />
        </Group>
      </Group>
    </Paper>
  );
}

type ItemButtonProps = {
  readonly icon: IconName;
  readonly label: string;
  readonly isDisabled: boolean;
  readonly onClick: () => void;
};

/** Stays in the order of the Tab key while it is disabled, so that the focus is not lost. */
const ItemButton = ({ icon, label, isDisabled, onClick }: ItemButtonProps) => (
  <ActionIcon
    variant="subtle"
    color="gray"
    size="lg"
    aria-label={label}
    aria-disabled={isDisabled}
    data-disabled={isDisabled}
    onClick={isDisabled ? undefined : onClick}
  >
    <Icon name={icon} size={16} />
  </ActionIcon>
);
