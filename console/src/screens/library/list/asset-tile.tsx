// An asset in the grid: its picture, name and state. Scrolling creates many of them: plain elements, not
// components of Mantine, wherever they look the same.
import type { Asset } from '@mediary/client';
import { Button } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { memo } from 'react';
import { Link } from 'wouter';
import { mediary } from '../../../api/mediary.ts';
import { formatBytes, formatDuration } from '../../../parts/format.ts';
import { Icon } from '../../../parts/icon.tsx';
import { Status } from '../../../parts/status.tsx';
import { Thumbnail } from '../../../parts/thumbnail.tsx';
import { Time } from '../../../parts/time.tsx';
import { ownerOptions, useAction } from '../../../parts/use-action.ts';
import type { Selection } from '../bulk/use-selection.ts';

type TileProps = {
  readonly asset: Asset;
  readonly slot: number;
  readonly session: ConsoleSession;
  readonly isSelected: boolean;
  readonly onToggle: Selection['toggle'];
};

export const AssetTile = memo(({ asset, slot, session, isSelected, onToggle }: TileProps) => (
  <div className="tile-frame" data-selected={isSelected}>
    <input
      type="checkbox"
      className="tile-choice"
      aria-label={`Select ${asset.title ?? asset.filename}`}
      checked={isSelected}
      // The click has the shift key, of the keyboard too.
      onClick={({ shiftKey }) => onToggle(asset, slot, shiftKey)}
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
));

/** In the place of an asset that is not read yet. */
export const TilePlaceholder = () => (
  <div className="tile-frame" aria-hidden="true">
    <div className="tile-picture" />
    <div className="tile-line" />
    <div className="tile-line tile-line-short" />
  </div>
);

type DeletedProps = Pick<TileProps, 'asset' | 'session'>;

/** An asset in the trash has no page: it can be restored. */
function DeletedTile({ asset, session }: DeletedProps) {
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
          <span className="tile-label">{formatDuration(asset.duration_ms)}</span>
        )}
      </div>
      <div className="tile-name">
        <span title={name} dir="auto">
          {name}
        </span>
        {asset.stream_status === 'failed' ? <Icon name="alert" size={16} /> : null}
      </div>
      <div className="tile-state">
        {asset.stream_status === 'ready' && !asset.deleted_at ? (
          <>
            <Time at={asset.created_at} />
            {asset.size_bytes !== null && ` · ${formatBytes(asset.size_bytes)}`}
          </>
        ) : (
          <Status asset={asset} />
        )}
      </div>
    </>
  );
}
