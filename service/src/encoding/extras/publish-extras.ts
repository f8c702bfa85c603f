// Decides what happens when the further files of a run exist: they are shown with the run's renditions.
import type { Asset } from '../../assets/asset.ts';
import { newEvent } from '../../assets/asset-event.ts';
import { awaitsReport } from '../../assets/poster.ts';
import type { VideoExtra } from '../../assets/video-extras.ts';
import { type AssetChange, patchOf } from '../../lifecycle/decisions/change.ts';
import { renditionFolder } from '../../storage/object-key.ts';

type RunFolder = { readonly folder: string };

type RunAsset = Pick<Asset, 'playback' | 'attempt' | 'stream_status' | 'encoded_run'>;

/**
 * `published`: players get the files of the run. `awaited`: all files are stored, and the report that
 * publishes them is expected. `superseded`: another run replaced it.
 */
export function stateOfRun(asset: RunAsset, { folder }: RunFolder): 'published' | 'awaited' | 'superseded' {
  if (awaitsReport(asset) && renditionFolder(asset.attempt, asset.encoded_run) === folder) return 'awaited';
  return asset.playback?.kind === 'own' && asset.playback.folder === folder ? 'published' : 'superseded';
}

type MadeExtras = RunFolder & { readonly extras: readonly VideoExtra[] };

/** Undefined if the run is not published, or shows these already. An empty list is shown too. */
export function decideExtras(asset: Asset, { folder, extras }: MadeExtras): AssetChange | undefined {
  const { playback } = asset;
  if (playback?.kind !== 'own' || stateOfRun(asset, { folder }) !== 'published') return undefined;
  if (extras.length === 0 && playback.extras) return undefined;
  const set = patchOf(asset, { playback: { ...playback, extras } });
  if (Object.keys(set).length === 0) return undefined;
  const data = { attempt: asset.attempt, source: 'service', fields: ['playback'], extras };
  return { set, events: asset.deleted_at ? [] : [newEvent('asset.updated', data)], jobs: [] };
}
