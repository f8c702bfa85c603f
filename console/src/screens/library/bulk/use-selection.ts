// Which assets of the list are selected.
import type { Asset } from '@mediary/client';
import { useCallback, useState } from 'react';

export type Selection = {
  readonly assets: readonly Asset[];
  readonly has: (id: string) => boolean;
  /** `isRange`: also all between it and the one that was clicked before. */
  readonly toggle: (asset: Asset, isRange: boolean) => void;
  readonly addAll: (assets: readonly Asset[]) => void;
  readonly remove: (ids: ReadonlySet<string>) => void;
  readonly clear: () => void;
};

const NONE: ReadonlyMap<string, Asset> = new Map();

/** `list`: the loaded assets in their order. */
export function useSelection(list: readonly Asset[]): Selection {
  const [selected, setSelected] = useState(NONE);
  const [lastId, setLastId] = useState<string>();
  const clear = useCallback(() => setSelected(NONE), []);
  const addAll = (assets: readonly Asset[]): void =>
    setSelected((current) => new Map([...current, ...assets.map((asset) => [asset.id, asset] as const)]));
  const remove = useCallback(
    (ids: ReadonlySet<string>) =>
      setSelected((current) => new Map([...current].filter(([id]) => !ids.has(id)))),
    [],
  );
  const toggle = (asset: Asset, isRange: boolean): void => {
    setLastId(asset.id);
    const from = list.findIndex(({ id }) => id === lastId);
    const to = list.findIndex(({ id }) => id === asset.id);
    if (isRange && from >= 0) addAll(list.slice(Math.min(from, to), Math.max(from, to) + 1));
    else if (selected.has(asset.id)) remove(new Set([asset.id]));
    else addAll([asset]);
  };
  return { assets: [...selected.values()], has: (id) => selected.has(id), toggle, addAll, remove, clear };
}
