// What the guards of assets need.
import type { Auth } from '../auth/feature.ts';
import type { Caller } from '../auth/caller.ts';
import type { Asset } from './asset.ts';

/** Throws NOT_FOUND and FORBIDDEN. */
export type FindForCaller = (caller: Caller, id: string) => Promise<Asset>;

export type AssetsContext = {
  readonly auth: Pick<Auth, 'callerOf' | 'assertReadableByToken'>;
  readonly lifecycle: {
    readonly findAssetForCaller: FindForCaller;
    /** Also finds assets in the trash. */
    readonly findTrashedAssetForCaller: FindForCaller;
    /** Also finds purged assets. */
    readonly findErasableAssetForCaller: FindForCaller;
  };
};
