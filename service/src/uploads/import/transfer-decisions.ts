// Decides how an import moves on to the hosted provider of its asset: pure (contract B4).
import { awaitsService } from '../byte-rules.ts';
import { newEvent } from '../../assets/asset-event.ts';
import type { Asset, Warning } from '../../assets/asset.ts';
import { type AssetChange, patchOf } from '../../lifecycle/decisions/change.ts';
import { decideCompletion } from '../../lifecycle/decisions/decide-commands.ts';
import { withWarnings } from '../../lifecycle/decisions/stream-state.ts';

type CheckedFile = {
  readonly attempt: number;
  readonly facts: Pick<Asset, 'width' | 'height' | 'duration_ms'>;
  readonly warnings: readonly Warning[];
};

/** The stored bytes are valid: a job sends them to the provider. Undefined if the asset does not wait. */
export function decideTransferStart(
  asset: Asset,
  { attempt, facts, warnings }: CheckedFile,
): AssetChange | undefined {
  const { id: assetId, provider } = asset;
  if (!awaitsService(asset, attempt) || asset.uploaded_at === null || provider === null) return undefined;
  const set = patchOf(asset, { ...facts, warnings: withWarnings(asset.warnings, warnings) });
  const fields = Object.keys(set);
  return {
    set,
    events: fields.length > 0 ? [newEvent('asset.updated', { attempt, source: 'service', fields })] : [],
    jobs: [{ name: 'transfer-import', payload: { provider, assetId, attempt } }],
  };
}

/** The provider has all bytes: it processes them, and the service removes its own. */
export function decideTransferEnd(asset: Asset, attempt: number, now: Date): AssetChange | undefined {
  if (!awaitsService(asset, attempt)) return decideRelease(asset, attempt);
  const completed = decideCompletion(asset, { facts: {}, actorData: { source: 'service' } }, now);
  return completed && withRelease(asset, completed);
}

/**
 * Removes the stored bytes of an import that ended, as when the provider reported on the video before the
 * service knew that it had all bytes.
 */
export function decideRelease(asset: Asset, attempt: number): AssetChange | undefined {
  const isOver = asset.attempt === attempt && asset.stream_status !== 'pending_upload';
  const hasBytes = asset.uploaded_at !== null && asset.deleted_at === null;
  return isOver && hasBytes ? withRelease(asset, { set: {}, events: [], jobs: [] }) : undefined;
}

const withRelease = ({ id: assetId }: Asset, { set, events, jobs }: AssetChange): AssetChange => ({
  set: { ...set, uploaded_at: null },
  events,
  jobs: [...jobs, { name: 'purge-asset', payload: { assetId } }],
});
