// Moves one item: creates its asset, stores its captions, and waits until the bytes have arrived. Each step
// looks at what is there, so that the next run continues after an interruption.
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../client.ts';
import { followAsset } from '../events/follow.ts';
import type { Adoption } from './adoption.ts';
import type { ExistingAssets } from './existing-assets.ts';
import { type ImportOptions, toExternalId, toImportRequest } from './import-request.ts';
import { decideRetry, type FoundAsset, type ItemReport, planItem } from './item-report.ts';
import type { SourceCaption, SourceItem, SourceName } from './source.ts';

type Migration = {
  readonly client: Client;
  readonly source: SourceName;
  readonly existing: ExistingAssets;
  readonly options: ImportOptions;
  /** Undefined where the service downloads the files. */
  readonly adoption: Adoption | undefined;
  /** Gives failed assets another attempt. */
  readonly retriesFailed: boolean;
  /** Waits until the asset is ready, not only for its bytes. */
  readonly waitsUntilReady: boolean;
};

type Finding = Pick<ItemReport, 'asset_id' | 'result' | 'reason'>;

/** Rejects where a request fails; the asset may exist then. */
export async function moveItem(migration: Migration, item: SourceItem): Promise<Finding> {
  const found = migration.existing.find(item.id);
  const { result, reason } = planItem(item, found);
  if (result === 'not_movable') return { asset_id: null, result, reason };
  if (found && result === 'failed' && !migration.retriesFailed) return { asset_id: found.id, result, reason };
  const isKept = found !== undefined && result === 'existing';
  const asset = isKept ? found : await createAsset(migration, item, found);
  const notes = await addCaptions(migration, item, { asset, isNew: !isKept });
  const settled = await waitForBytes(migration, asset);
  if (settled.stream_status === 'failed') return { asset_id: asset.id, ...planItem(item, settled) };
  const all = [...(isKept ? [] : item.notes), ...notes];
  return { asset_id: asset.id, result: isKept ? 'existing' : 'imported', reason: all.join(' ') || null };
}

/** `failed`: the asset of the last attempt. */
async function createAsset(
  { client, source, options, adoption }: Migration,
  item: SourceItem,
  failed: FoundAsset | undefined,
): Promise<FoundAsset> {
  const { media } = client.mediary;
  if (failed && decideRetry(failed) === 'retry') {
    await media.retry(failed.id, client.options);
    return media.get(failed.id, client.options);
  }
  const file = await item.openFile();
  // The URL of the failed import may have expired. Another asset takes its place.
  if (failed) await media.delete(failed.id, client.options);
  const request = toImportRequest({ source, item, file, options });
  if (adoption) return adoption.adopt(item, request);
  return media.import(request, { ...client.options, ifExists: 'return' });
}

/** Adds the languages that the asset lacks. Returns what cannot be added. */
async function addCaptions(
  { client }: Migration,
  item: SourceItem,
  { asset, isNew }: { readonly asset: FoundAsset; readonly isNew: boolean },
): Promise<string[]> {
  const isHosted = asset.provider !== 'onprem';
  if (asset.kind !== 'video' || (isHosted && !isNew)) return [];
  const captions = await item.listCaptions();
  if (captions.length === 0) return [];
  if (isHosted) return [`The captions are not moved: ${asset.provider} streams the video.`];
  const present = isNew ? [] : await listLanguages(client, asset.id);
  for (const caption of captions)
    if (!present.includes(caption.language)) await putCaption(client, asset.id, caption);
  return [];
}

export async function listLanguages({ mediary, options }: Client, assetId: string): Promise<string[]> {
  const languages: string[] = [];
  for await (const { language } of mediary.captions.list(assetId, options)) languages.push(language);
  return languages;
}

async function putCaption(
  { mediary, options }: Client,
  assetId: string,
  { language, label, kind, read }: SourceCaption,
): Promise<void> {
  const text = await read();
  await mediary.captions.put(assetId, language, { text, label, kind }, options);
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5000;

/** The URL of the file is valid for some hours: the next import starts when this one has its bytes. */
async function waitForBytes({ client, waitsUntilReady }: Migration, asset: FoundAsset): Promise<FoundAsset> {
  const { mediary, options } = client;
  if (waitsUntilReady && asset.stream_status !== 'ready')
    return followAsset(client, { asset: asset.id, timeoutS: undefined, onUpdate: () => {} });
  let seen = asset;
  for (let pauseMs = FIRST_PAUSE_MS; seen.stream_status === 'pending_upload'; ) {
    await delay(pauseMs, undefined, options.signal && { signal: options.signal });
    seen = await mediary.media.get(asset.id, options);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  }
  return seen;
}

export const toReport = (source: SourceName, item: SourceItem, finding: Finding): ItemReport => ({
  source_id: item.id,
  external_id: toExternalId(source, item.id),
  title: item.title,
  size_bytes: item.sizeBytes,
  duration_ms: item.durationMs,
  ...finding,
});
