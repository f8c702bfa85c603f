// Which assets of the list are selected.
import type { Asset } from '@mediary/client';
import { useCallback, useRef, useState } from 'react';
import { showError } from '../../../parts/use-action.ts';
import type { AssetList } from '../list/use-asset-list.ts';

export type Selection = {
  readonly assets: readonly Asset[];
  readonly has: (id: string) => boolean;
  /** `isRange`: also all between its place and that of the one that was clicked before. */
  readonly toggle: (asset: Asset, slot: number, isRange: boolean) => void;
  /** Everything that was listed so far. */
  readonly addAll: () => void;
  readonly remove: (ids: ReadonlySet<string>) => void;
  readonly clear: () => void;
};

const NONE: ReadonlyMap<string, Asset> = new Map();

export function useSelection(list: AssetList): Selection {
  const [selected, setSelected] = useState(NONE);
  const lastSlot = useRef<number>(undefined);
  const current = useRef(list);
  current.current = list;
  const generation = useRef(0);
  const clear = useCallback(() => {
    generation.current += 1;
    lastSlot.current = undefined;
    setSelected(NONE);
  }, []);
  const addRange = useCallback((from: number, to: number): void => {
    const asked = generation.current;
    const range = current.current.readRange(Math.min(from, to), Math.max(from, to));
    // Its pages may arrive after the selection was cleared, also from a list that is no longer shown.
    const add = (assets: readonly Asset[]): void => {
      if (generation.current === asked) setSelected((before) => withAssets(before, assets));
    };
    void range.then(add, showError);
  }, []);
  const remove = useCallback(
    (ids: ReadonlySet<string>) =>
      setSelected((before) => new Map([...before].filter(([id]) => !ids.has(id)))),
    [],
  );
  const toggle = useCallback(
    (asset: Asset, slot: number, isRange: boolean): void => {
      const from = lastSlot.current;
      lastSlot.current = slot;
      if (isRange && from !== undefined) addRange(from, slot);
      else
        setSelected((before) =>
          before.has(asset.id) ? without(before, asset) : withAssets(before, [asset]),
        );
    },
    [addRange],
  );
  return {
    assets: [...selected.values()],
    has: (id) => selected.has(id),
    toggle,
    addAll: () => addRange(0, list.readSlots - 1),
    remove,
    clear,
  };
}

const withAssets = (before: ReadonlyMap<string, Asset>, assets: readonly Asset[]) =>
  new Map([...before, ...assets.map((asset) => [asset.id, asset] as const)]);

function without(before: ReadonlyMap<string, Asset>, { id }: Asset): ReadonlyMap<string, Asset> {
  const after = new Map(before);
  after.delete(id);
  return after;
}
