// The `update` of an asset store that has one asset in memory, for tests of what a decision does to it.
import type { Asset } from '../assets/asset.ts';
import type { Decide, Decision } from './decisions/change.ts';

/** `missing`: the asset is gone when the update reads it. */
export function openMemoryStore(asset: Asset | 'missing', now: Date) {
  const decisions: Decision[] = [];
  const update = async <D extends Decision | undefined>(_ref: unknown, decide: Decide<D>) => {
    if (asset === 'missing') return undefined;
    const decision = decide(asset, now);
    if (decision) decisions.push(decision);
    return { asset: { ...asset, ...decision?.set }, decision };
  };
  return { update, decisions };
}
