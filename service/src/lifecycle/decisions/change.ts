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
export type AssetChange = {
  readonly set: AssetPatch;
  readonly events: readonly NewEvent[];
  readonly jobs: readonly JobRequest[];
  /** The objects of the asset do not wait for the end of PURGE_GRACE_DAYS. */
  readonly isErasure?: boolean;
  /** A job removes the objects that the asset does not refer to any more, also without PURGE_GRACE_DAYS. */
  readonly removesObjects?: boolean;
};

/** A delivery with its effect on the asset; `now` is the time of recording. */
export type DeliveryRecord = DeliveryOutcome & {
  readonly delivery: Delivery;
  readonly assetId: string | null;
  readonly now: Date;
};

/** The request that writes an upload. */
export type UploadLease = { readonly upload: string; readonly holder: string };

/** An upload that no request holds: its row is written with the asset. */
export type UploadRecord = {
  readonly id: string;
  readonly protocol: string;
  /** Where a hosted provider gets the bytes; null if they are for the service. */
  readonly target: Readonly<Record<'provider' | 'video_id' | 'protocol', string>> | null;
  /** Whether the bytes are stored already. */
  readonly isFinished: boolean;
};

/** A change with the delivery that caused it, and the upload that it finishes or records. */
export type AssetWrite = AssetChange & {
  readonly delivery?: DeliveryRecord | undefined;
  /** Stored only while the holder has the lease, which then ends. */
  readonly finishes?: UploadLease | undefined;
  readonly records?: UploadRecord | undefined;
  /** The same, unless a request is writing the bytes of the asset. */
  readonly recordsUnlessHeld?: UploadRecord | undefined;
};

/** `seen` is the asset that the decision is based on. */
export type PendingWrite = {
  readonly seen: Asset;
  readonly decision: AssetWrite;
  readonly now: Date;
  /** Of the span that has caused the write. */
  readonly traceparent: string | undefined;
  /** Objects that the asset does not refer to any more, to be removed after this time. */
  readonly removals: { readonly keys: readonly string[]; readonly graceDays: number };
};

/** Pure: the store calls it again with the current asset after a conflict. Undefined changes nothing. */
export type Decide<D extends AssetWrite | undefined = AssetWrite | undefined> = (
  asset: Asset,
  now: Date,
) => D;

/** The values of `next` that differ from the asset's. */
export const patchOf = (asset: Asset, next: AssetPatch): AssetPatch =>
  Object.fromEntries(
    Object.entries(next).filter(([name, value]) => !isDeepStrictEqual(asset[name as keyof Asset], value)),
  );

export const isEmpty = ({ set, events, jobs }: AssetChange): boolean =>
  Object.keys(set).length === 0 && events.length === 0 && jobs.length === 0;
