// Decides how a replacement hands its file over, how the previous file comes back, and when it goes: pure.
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { Asset } from '../../assets/asset.ts';
import { type EventData, newEvent } from '../../assets/asset-event.ts';
import { fileOf, findRestorable, keepFile, toFile } from '../../assets/previous-version.ts';
import type { JobRequest } from '../../jobs.ts';
import type { AssetChange, AssetPatch } from '../../lifecycle/decisions/change.ts';
import { decideDeletion } from '../../lifecycle/decisions/deletion.ts';
import { assertNotHeld } from '../../lifecycle/decisions/legal-hold.ts';
import { conflict } from '../../platform/http/errors.ts';

const DAY_MS = 86_400_000;

export type Replacing = {
  readonly trashDays: number;
  readonly now: Date;
  /** Purges of a CDN. */
  readonly purges: readonly JobRequest[];
};

/** The asset gets the file of its replacement, which is ready. */
export function decideTakeover(asset: Asset, replacement: Asset, replacing: Replacing): AssetChange {
  const kept = keepPrevious(asset, replacing);
  const { attempt, encode_run, encoded_run, encode_interruptions, settled, reconcile_at } = replacement;
  const data: EventData = {
    source: 'service',
    attempt,
    replacement_id: replacement.id,
    ...(kept && { restorable_until: kept.restorable_until }),
  };
  return {
    set: {
      ...fileOf(replacement),
      ...READY,
      ...toNextVersions(asset, replacing),
      duplicate_of: replacement.duplicate_of === asset.id ? null : replacement.duplicate_of,
      previous_version: kept,
      attempt,
      encode_run,
      encoded_run,
      encode_interruptions,
      settled,
      reconcile_at,
    },
    events: [newEvent('asset.replaced', data)],
    jobs: [...replacing.purges, ...toExtrasJobs(asset.id, replacement)],
    removesObjects: true,
  };
}

const READY = { stream_status: 'ready', progress: 100, failure: null, refused: false } as const;

/** A purge of a CDN is named by the playback version. Without one, issued tokens stay valid. */
const toNextVersions = (asset: Asset, { purges }: Pick<Replacing, 'purges'>): AssetPatch => ({
  version: asset.version + 1,
  playback_version: asset.playback_version + (purges.length > 0 ? 1 : 0),
});

/** The file of a failed asset is worth nothing. */
const keepPrevious = (asset: Asset, { trashDays, now }: Omit<Replacing, 'purges'>) =>
  asset.stream_status === 'ready' && trashDays > 0
    ? keepFile(asset, {
        replaced_at: now.toISOString(),
        restorable_until: new Date(now.getTime() + trashDays * DAY_MS).toISOString(),
      })
    : null;

/** The extra files that were not copied, because they were made later. */
const toExtrasJobs = (assetId: string, { playback }: Pick<Asset, 'playback'>): JobRequest[] =>
  playback?.kind === 'own' ? [{ name: 'make-extras', payload: { assetId, folder: playback.folder } }] : [];

/** Why a replacement is deleted without a caller's request. */
type EndReason = 'took_over' | 'replaced_again' | 'replaced_asset_deleted';

/** The replacement is deleted for good. Throws CONFLICT if it is under a legal hold. */
export const decideEnd = (
  replacement: Asset,
  { reason, now }: { readonly reason: EndReason; readonly now: Date },
): AssetChange =>
  decideDeletion(replacement, { purgeAt: null, actorData: { source: 'service', reason }, now });

const OVERTAKEN = {
  code: 'replacement_overtaken',
  message: FAILURE_CODES.replacement_overtaken,
  retryable: true,
};

/** Both attempts may have files of the same name. A retry opens an attempt above that of the asset. */
export const decideOvertaken = ({ attempt }: Asset, asset: Pick<Asset, 'attempt'>): AssetChange => ({
  set: {
    attempt: Math.max(attempt, asset.attempt),
    stream_status: 'failed',
    failure: OVERTAKEN,
    ready_at: null,
    reconcile_at: null,
  },
  events: [newEvent('asset.failed', { attempt, source: 'service', code: OVERTAKEN.code })],
  jobs: [],
});

type RollingBack = Replacing & { readonly actorData: EventData };

/** The two files change places. Throws CONFLICT where no previous file is kept. */
export function decideRollback(asset: Asset, { actorData, ...replacing }: RollingBack): AssetChange {
  assertNotHeld(asset);
  const previous = findRestorable(asset, replacing.now);
  if (!previous) throw conflict('No previous file of the asset is kept', { reason: 'no_previous_version' });
  assertProcessed(asset);
  const kept = keepPrevious(asset, replacing);
  // Reports on the file that goes are those of an older attempt.
  const attempt = asset.attempt + 1;
  const until = kept && { restorable_until: kept.restorable_until };
  const file = toFile(previous);
  // The job may have found the other file in its place.
  const isPending = file.playback?.kind === 'own' && !file.playback.extras;
  const data = { ...actorData, attempt, reason: 'rolled_back', ...until };
  return {
    set: {
      ...file,
      ...READY,
      ...toNextVersions(asset, replacing),
      previous_version: kept,
      attempt,
      encode_run: 0,
      encoded_run: 0,
      reconcile_at: null,
    },
    events: [newEvent('asset.replaced', data)],
    jobs: [...replacing.purges, ...(isPending ? toExtrasJobs(asset.id, file) : [])],
    removesObjects: true,
  };
}

/** Throws CONFLICT while an attempt runs, whose files a change of the file would mix up. */
export function assertProcessed({ stream_status: status }: Pick<Asset, 'stream_status'>): void {
  if (status !== 'ready' && status !== 'failed')
    throw conflict(
      `Only the file of an asset that is ready or failed can be replaced; this one is ${status}.`,
      {
        reason: 'wrong_status',
        stream_status: status,
      },
    );
}

/** A job removes the objects of the previous file; undefined while it can come back. */
export function decideForgetting(asset: Asset, now: Date): AssetChange | undefined {
  if (!asset.previous_version || asset.legal_hold || findRestorable(asset, now)) return undefined;
  return { set: { previous_version: null }, events: [], jobs: [], removesObjects: true };
}
