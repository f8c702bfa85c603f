// The `update` of an asset store that has one asset in memory, for tests of what a decision does to it.
import type { Asset } from '../assets/asset.ts';
import { offer } from '../platform/values/offer.ts';
import { createLifecycleContext } from './context.fixture.ts';
import { completeAsset, recordCheck, refuseAsset, reopenAsset, retryAsset } from './commands.ts';
import type { Decide, AssetWrite } from './decisions/change.ts';

/** `missing`: the asset is gone when the update reads it. */
export function openMemoryStore(asset: Asset | 'missing', now: Date) {
  const decisions: AssetWrite[] = [];
  const update = async <D extends AssetWrite | undefined>(_ref: unknown, decide: Decide<D>) => {
    if (asset === 'missing') return undefined;
    const decision = decide(asset, now);
    if (decision) decisions.push(decision);
    return { asset: { ...asset, ...decision?.set }, decision };
  };
  return { update, decisions };
}

/** The same for the commands of the lifecycle; each one sees what the one before it has changed. */
export function openMemoryLifecycle(first: Asset, now: Date) {
  let asset = first;
  const decisions: AssetWrite[] = [];
  const update = async <D extends AssetWrite | undefined>(_ref: unknown, decide: Decide<D>) => {
    const decision = decide(asset, now);
    if (decision) decisions.push(decision);
    asset = { ...asset, ...decision?.set };
    return { asset, decision };
  };
  const ctx = createLifecycleContext({ assets: { update } });
  const findAssetById = async (id: string) => (id === asset.id ? asset : undefined);
  const commands = offer(ctx, { completeAsset, recordCheck, refuseAsset, retryAsset, reopenAsset });
  return { asset: () => asset, decisions, lifecycle: { findAssetById, update, ...commands } };
}
