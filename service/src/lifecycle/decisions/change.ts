// The effect of a decision on an asset: columns, events and jobs.
import { isDeepStrictEqual } from 'node:util';
import type { Asset } from '../../assets/asset.ts';
import type { NewEvent } from '../../assets/asset-event.ts';
import type { JobRequest } from '../../jobs.ts';
import type { mutableColumns } from '../../tables.ts';
import type { Delivery, DeliveryOutcome } from './stream-report.ts';

/** A value for each column that changes. */
export type AssetPatch = Partial<Pick<Asset, keyof typeof mutableColumns>>;

/** Stored in one transaction. */
export type Change = {
  readonly set: AssetPatch;
  readonly events: readonly NewEvent[];
  readonly jobs: readonly JobRequest[];
  /** The objects of the asset do not wait for the end of PURGE_GRACE_DAYS. */
  readonly isErasure?: boolean;
};

/** A delivery with its effect on the asset; `now` is the time of recording. */
export type DeliveryRecord = DeliveryOutcome & {
  readonly delivery: Delivery;
  readonly assetId: string | null;
  readonly now: Date;
};

/** The request that writes an upload. */
export type UploadLease = { readonly upload: string; readonly holder: string };

/**
 * An upload whose bytes go elsewhere, so that no request holds its lease: a presigned PUT, recorded when it
 * is finished, or an upload to the video of a hosted provider, recorded when it is opened.
 */
export type DirectUpload = { readonly id: string } & (
  | { readonly protocol: 'put'; readonly target: null }
  | {
      readonly protocol: 'hosted';
      readonly target: Readonly<Record<'provider' | 'video_id' | 'protocol', string>>;
    }
);

/** A small PUT, recorded when it is finished; it gives way to a request that is writing the asset. */
type SmallPut = { readonly id: string };

/** A change, the delivery that caused it, the upload that it finishes, and the one that it records. */
export type Decision = Change & {
  readonly delivery?: DeliveryRecord | undefined;
  readonly upload?: UploadLease | undefined;
  readonly direct?: DirectUpload | undefined;
  readonly smallPut?: SmallPut | undefined;
};

/** `seen` is the asset that the decision is based on. */
export type PendingWrite = {
  readonly seen: Asset;
  readonly decision: Decision;
  readonly now: Date;
  /** Objects that the asset does not refer to any more, to be removed after this time. */
  readonly removals: { readonly keys: readonly string[]; readonly graceDays: number };
};

/** Pure: the store calls it again with the current asset after a conflict. Undefined changes nothing. */
export type Decide<D extends Decision | undefined = Decision | undefined> = (asset: Asset, now: Date) => D;

/** The values of `next` that differ from the asset's. */
export const patchOf = (asset: Asset, next: AssetPatch): AssetPatch =>
  Object.fromEntries(
    Object.entries(next).filter(([name, value]) => !isDeepStrictEqual(asset[name as keyof Asset], value)),
  );

export const isEmpty = ({ set, events, jobs }: Change): boolean =>
  Object.keys(set).length === 0 && events.length === 0 && jobs.length === 0;
