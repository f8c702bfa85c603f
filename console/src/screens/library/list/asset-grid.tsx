// A grid: only its visible rows are in the page.
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import type { Selection } from '../bulk/use-selection.ts';
import { AssetTile, TilePlaceholder } from './asset-tile.tsx';
import type { AssetList } from './use-asset-list.ts';
import { useScrollMemory } from './use-scroll-memory.ts';
import { useWidth } from './use-width.ts';

type GridProps = {
  readonly session: ConsoleSession;
  readonly list: AssetList;
  readonly isTrash: boolean;
  readonly selection: Selection;
};

const TILE_WIDTH = 220;
const GAP = 16;
/** Of the lines below the picture, with the button of the trash. */
const LABEL_HEIGHT = 54;
const BUTTON_HEIGHT = 36;
/** Rows beyond the view that are in the page. */
const ROWS_AHEAD = 3;

export function AssetGrid({ session, list, isTrash, selection }: GridProps) {
  const outer = useRef<HTMLDivElement>(null);
  const width = useWidth(outer);
  const columns = Math.max(1, Math.floor((width + GAP) / (TILE_WIDTH + GAP)));
  const tileWidth = Math.max(0, (width - GAP * (columns - 1)) / columns);
  const rowHeight = (tileWidth * 9) / 16 + LABEL_HEIGHT + (isTrash ? BUTTON_HEIGHT : 0) + GAP;
  const rows = useWindowVirtualizer({
    count: width === 0 ? 0 : Math.ceil(list.slots / columns),
    estimateSize: () => rowHeight,
    overscan: ROWS_AHEAD,
    scrollMargin: outer.current?.offsetTop ?? 0,
  });
  useEffect(() => {
    if (rowHeight > 0) rows.measure();
  }, [rows, rowHeight]);
  const visible = rows.getVirtualItems();
  const first = (visible[0]?.index ?? 0) * columns;
  const last = ((visible.at(-1)?.index ?? -1) + 1) * columns - 1;
  const { show } = list;
  useEffect(() => {
    if (last >= 0) show(first, last);
  }, [show, first, last]);
  useScrollMemory(outer, width > 0);
  return (
    <div ref={outer} className="grid" style={{ height: rows.getTotalSize() }}>
      {visible.map(({ index, start }) => (
        <div
          key={index}
          className="grid-row"
          style={{
            transform: `translateY(${start - rows.options.scrollMargin}px)`,
            gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
          }}
        >
          {slotsOf(index, columns, list.slots).map((slot) => {
            const asset = list.findAsset(slot);
            return asset ? (
              <AssetTile
                key={asset.id}
                asset={asset}
                slot={slot}
                session={session}
                isSelected={selection.has(asset.id)}
                onToggle={selection.toggle}
              />
            ) : (
              <TilePlaceholder key={slot} />
            );
          })}
        </div>
      ))}
    </div>
  );
}

function slotsOf(row: number, columns: number, slots: number): number[] {
  const start = row * columns;
  return Array.from({ length: Math.max(0, Math.min(columns, slots - start)) }, (_, column) => start + column);
}
