// The only writer of assets and events: reads, decides, compares and sets the revision; retries conflicts.
import type { Asset, AssetRef, NewAsset } from '../assets/asset.ts';
import { type EventData, newEvent } from '../assets/asset-event.ts';
import { type BatchLimits, createBatcher, STATEMENT_LIMITS } from '../platform/concurrency/batcher.ts';
import { createKeyedMutex } from '../platform/concurrency/keyed-mutex.ts';
import { unavailable } from '../platform/http/errors.ts';
import { currentTraceparent } from '../platform/observability/tracing.ts';
import type { Database, Transaction } from '../platform/postgres/database.ts';
import {
  type Decide,
  type AssetWrite,
  type DeliveryRecord,
  isEmpty,
  type PendingWrite,
} from './decisions/change.ts';
import type { ServiceJobs } from '../jobs.ts';
import type { LifecycleContext } from './context.ts';
import { throwRefusal } from './refused-write.sql.ts';
import { claimEncode, type EncodeClaim } from './encode-claim.sql.ts';
import {
  holdsUploadLease,
  insertAssets,
  type PendingInsert,
  recordDeliveries,
  updateAssets,
} from './store.sql.ts';
import { finishUnheldUploads } from './unheld-uploads.sql.ts';
import { type SeenChange, toPendingWrite, updateTogether, updateWithJobs } from './pending-writes.ts';

type WriterContext = Pick<LifecycleContext, 'settings' | 'db' | 'loader' | 'now'> & {
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
};

type Listeners = {
  /** Called when a change of the asset may have been committed. */
  readonly onWritten?: (assetId: string) => void;
  /** Called after the commit of a change. */
  readonly onChanged?: (asset: Asset, write: PendingWrite) => void;
};

/** `asset` is the asset after the decision. */
type Update<D> = { readonly asset: Asset; readonly decision: D };

/** `alongside` runs in the transaction that creates the asset; not if the asset exists already. */
type CreateOptions = { readonly alongside?: (tx: Transaction) => Promise<unknown> };

export type AssetStore = {
  /** Throws CONFLICT if another asset has the video. Returns the asset if an earlier request created it. */
  createAsset(asset: NewAsset, data: EventData, options?: CreateOptions): Promise<Asset>;
  /**
   * `ref`: an id, a provider's video, or an asset just read, which saves a read. Undefined if missing, if the
   * decision finishes an upload whose lease is lost, or records one while another request writes.
   */
  update<D extends AssetWrite | undefined>(
    ref: AssetRef | Asset,
    decide: Decide<D>,
  ): Promise<Update<D> | undefined>;
  /** Records a delivery that changes no asset. */
  recordDelivery(delivery: DeliveryRecord): Promise<undefined>;
  claimEncode(claim: EncodeClaim): ReturnType<typeof claimEncode>;
  /** Stores all changes or none: false if one of the assets has changed since it was read. */
  updateTogether(changes: readonly SeenChange[]): Promise<boolean>;
};

/** Each job is its own statement, so a batch with jobs locks its rows for longer. */
const LIMITS_WITH_JOBS = { concurrency: 2, maxItems: 20 };
/** One commit makes many objects durable: fewer and larger batches finish more uploads. */
const LIMITS_OF_UPLOADS = { concurrency: 1, maxItems: 100 };
/** Limit of the delivery bodies of a batch, which are sent as hex text of twice their size. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024;
/** More concurrent writers of one asset are a fault, not a race. */
const MAX_RACES = 50;

export function createAssetStore(ctx: WriterContext, listeners: Listeners = {}): AssetStore {
  const { db } = ctx;
  const insert = createBatcher(
    (inserts: readonly PendingInsert[]) => insertAssets(db, inserts),
    STATEMENT_LIMITS,
  );
  const writer: Writer = { ...listeners, ...createWriter(ctx) };
  const runExclusive = createKeyedMutex();
  return {
    createAsset: (asset, data, { alongside } = {}) =>
      createAsset(ctx, alongside ? (pending) => insertWith(db, pending, alongside) : insert, {
        asset,
        event: newEvent('asset.created', data),
        traceparent: currentTraceparent(),
      }),
    update: (ref, decide) => runExclusive(keyOf(ref), () => update({ ctx, writer, ref }, decide)),
    recordDelivery: writer.recordDelivery,
    claimEncode: (claim) => claimEncode(db, claim),
    updateTogether: (changes) => storeTogether({ ...listeners, ...ctx }, changes),
  };
}

type Write = (write: PendingWrite) => Promise<Asset | undefined>;
type Writer = Listeners & {
  readonly write: Write;
  readonly recordDelivery: (delivery: DeliveryRecord) => Promise<undefined>;
};

function createWriter({ db, jobs }: WriterContext): Writer {
  const writeState = createBatcher(
    (writes: readonly PendingWrite[]) => updateAssets(db, writes),
    withByteLimit(STATEMENT_LIMITS, ({ decision }) => decision.delivery),
  );
  const writeWithJobs = createBatcher(
    (writes: readonly PendingWrite[]) => updateWithJobs({ db, jobs }, writes),
    withByteLimit(LIMITS_WITH_JOBS, ({ decision }) => decision.delivery),
  );
  const finishUnheld = createBatcher(
    (writes: readonly PendingWrite[]) => finishUnheldUploads(db, writes),
    LIMITS_OF_UPLOADS,
  );
  return {
    write: (write) => {
      if (write.decision.recordsUnlessHeld) return finishUnheld(write);
      return write.decision.jobs.length > 0 ? writeWithJobs(write) : writeState(write);
    },
    recordDelivery: createBatcher(
      (deliveries: readonly DeliveryRecord[]) => recordDeliveries(db, deliveries),
      withByteLimit(STATEMENT_LIMITS, (delivery) => delivery),
    ),
  };
}

const withByteLimit = <Item>(
  limits: BatchLimits<Item>,
  deliveryOf: (item: Item) => DeliveryRecord | undefined,
): BatchLimits<Item> => ({
  ...limits,
  weightOf: (item) => deliveryOf(item)?.delivery.body.length ?? 0,
  maxWeight: MAX_BATCH_BYTES,
});

const isAsset = (ref: AssetRef | Asset): ref is Asset => 'id' in ref;

const keyOf = (ref: AssetRef | Asset): string => {
  if (isAsset(ref)) return ref.id;
  return 'assetId' in ref ? ref.assetId.toLowerCase() : `${ref.provider} ${ref.providerVideoId}`;
};

async function storeTogether(
  { onWritten, onChanged, ...ctx }: WriterContext & Listeners,
  changes: readonly SeenChange[],
): Promise<boolean> {
  const times = { graceDays: ctx.settings.purgeGraceDays, now: ctx.now() };
  const writes = changes.map((change) => toPendingWrite(change, times));
  const stored = await updateTogether(ctx, writes).finally(() => {
    for (const { seen } of changes) onWritten?.(seen.id);
  });
  for (const [index, write] of writes.entries()) if (stored?.[index]) onChanged?.(stored[index], write);
  return stored !== undefined;
}

type Updating = { readonly ctx: WriterContext; readonly writer: Writer; readonly ref: AssetRef | Asset };

async function update<D extends AssetWrite | undefined>(
  { ctx, writer, ref }: Updating,
  decide: Decide<D>,
): Promise<Update<D> | undefined> {
  const { db, loader, now } = ctx;
  const { purgeGraceDays: graceDays } = ctx.settings;
  const read = () => loader.findReported(isAsset(ref) ? { assetId: ref.id } : ref);
  let seen = isAsset(ref) ? ref : await read();
  for (let race = 0; race < MAX_RACES; race++) {
    if (!seen) return undefined;
    const decision = decide(seen, now());
    if (!decision) return { asset: seen, decision };
    const pending = toPendingWrite({ seen, decision }, { graceDays, now: now() });
    const asset: Asset | undefined = await write(writer, pending).catch(throwRefusal);
    if (asset) return { asset, decision };
    if (decision.recordsUnlessHeld) return undefined;
    if (decision.finishes && !(await holdsUploadLease(db, decision.finishes))) return undefined;
    seen = await read();
  }
  throw unavailable(`Other requests changed the asset ${MAX_RACES} times during this request. Try again.`);
}

/** Returns the asset after the write; undefined if another writer was faster. */
async function write(
  { write: store, recordDelivery, onWritten, onChanged }: Writer,
  pending: PendingWrite,
): Promise<Asset | undefined> {
  const { seen, decision } = pending;
  if (!isEmpty(decision)) {
    const asset = await store(pending).finally(() => onWritten?.(seen.id));
    if (asset) onChanged?.(asset, pending);
    return asset;
  }
  if (decision.delivery) await recordDelivery(decision.delivery);
  return seen;
}

/** In a transaction of its own, because a failure must not affect other assets of a batch. */
const insertWith = (
  db: Database,
  pending: PendingInsert,
  alongside: NonNullable<CreateOptions['alongside']>,
): Promise<Asset | undefined> =>
  db.transaction(async (tx) => {
    const [created] = await insertAssets(tx, [pending]);
    if (created) await alongside(tx);
    return created;
  });

async function createAsset(
  { loader }: WriterContext,
  insert: (pending: PendingInsert) => Promise<Asset | undefined>,
  pending: PendingInsert,
): Promise<Asset> {
  try {
    const created = (await insert(pending)) ?? (await loader.find(pending.asset.id));
    if (!created) throw new Error('an asset was neither created nor found');
    return created;
  } catch (error) {
    return throwRefusal(error);
  }
}
