// A grid: only its visible rows are in the page.
import type { Asset } from '@mediary/client';
import { Center, Loader } from '@mantine/core';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useElementSize } from '@mantine/hooks';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { AssetTile } from './asset-tile.tsx';
import type { Selection } from './bulk/use-selection.ts';

type GridProps = {
  readonly session: ConsoleSession;
  readonly assets: readonly Asset[];
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly selection: Selection;
};

const TILE_WIDTH = 220;
const GAP = 16;
/** Of the lines below the picture, with the button of the trash. */
const LABEL_HEIGHT = 62;
const BUTTON_HEIGHT = 36;
/** Pages are read before their rows come into view. */
const ROWS_AHEAD = 4;

export function AssetGrid({ session, assets, isLoading, hasMore, loadMore, selection }: GridProps) {
  const { ref, width } = useElementSize<HTMLDivElement>();
  const outer = useRef<HTMLDivElement>(null);
  const columns = Math.max(1, Math.floor((width + GAP) / (TILE_WIDTH + GAP)));
  const tileWidth = Math.max(0, (width - GAP * (columns - 1)) / columns);
  const count = Math.ceil(assets.length / columns);
  const rows = useWindowVirtualizer({
    count,
    estimateSize: () =>
      (tileWidth * 9) / 16 + LABEL_HEIGHT + (assets[0]?.deleted_at ? BUTTON_HEIGHT : 0) + GAP,
    overscan: ROWS_AHEAD,
    scrollMargin: outer.current?.offsetTop ?? 0,
  });
  const visible = rows.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (tileWidth > 0) rows.measure();
  }, [rows, tileWidth]);
  useEffect(() => {
    if (hasMore && !isLoading && last >= count - ROWS_AHEAD) loadMore();
  }, [hasMore, isLoading, last, count, loadMore]);
  return (
    <div ref={outer}>
      <div ref={ref} style={{ position: 'relative', height: rows.getTotalSize() }}>
        {visible.map(({ index, start }) => (
          <div
            key={index}
            style={{
              position: 'absolute',
              insetInline: 0,
              transform: `translateY(${start - rows.options.scrollMargin}px)`,
              display: 'grid',
              gap: GAP,
              gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
            }}
          >
            {assets.slice(index * columns, (index + 1) * columns).map((asset) => (
              <AssetTile key={asset.id} asset={asset} session={session} selection={selection} />
            ))}
          </div>
        ))}
      </div>
      {isLoading && (
        <Center py="md">
          <Loader size="sm" aria-label="Reading more assets" />
        </Center>
      )}
    </div>
  );
}
