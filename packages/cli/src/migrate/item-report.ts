// The result of one item, and the rules that find it.
import type { Asset } from '@mediary/client';
import type { ItemFacts } from './source.ts';

/** `plan`: new, existing · `run`: imported, existing · `verify`: equal, missing, processing, different. */
export type ItemResult =
  | 'new'
  | 'imported'
  | 'existing'
  | 'equal'
  | 'missing'
  | 'processing'
  | 'different'
  | 'failed'
  | 'not_movable';

export type ItemReport = {
  readonly source_id: string;
  readonly external_id: string;
  readonly title: string | null;
  readonly asset_id: string | null;
  readonly result: ItemResult;
  readonly reason: string | null;
  readonly size_bytes: number | null;
  readonly duration_ms: number | null;
};

/** What the rules need of an asset. */
export type FoundAsset = Pick<
  Asset,
  | 'id'
  | 'kind'
  | 'provider'
  | 'stream_status'
  | 'failure'
  | 'size_bytes'
  | 'checksum_sha256'
  | 'duration_ms'
  | 'uploaded_at'
>;

type Finding = Pick<ItemReport, 'result' | 'reason'>;

/** What `run` will do with an item. */
export function planItem(item: ItemFacts, asset: FoundAsset | undefined): Finding {
  if (asset) return isFailed(asset) ? failed(asset) : { result: 'existing', reason: null };
  if (item.problem !== null) return { result: 'not_movable', reason: item.problem };
  return { result: 'new', reason: item.notes.join('; ') || null };
}

type Captions = { readonly expected: readonly string[]; readonly present: readonly string[] };

/** Compares an item with its asset. */
export function compareItem(
  item: ItemFacts,
  asset: FoundAsset | undefined,
  captions: Captions = { expected: [], present: [] },
): Finding {
  if (!asset)
    return item.problem === null
      ? { result: 'missing', reason: 'There is no asset with this external_id.' }
      : { result: 'not_movable', reason: item.problem };
  if (isFailed(asset)) return failed(asset);
  if (asset.stream_status !== 'ready')
    return { result: 'processing', reason: `The asset is ${asset.stream_status}.` };
  const reason = findDifference(item, asset) ?? findMissingCaptions(captions);
  return reason === undefined ? { result: 'equal', reason: null } : { result: 'different', reason };
}

const isFailed = ({ stream_status: status }: FoundAsset): boolean => status === 'failed';

const failed = ({ failure }: FoundAsset): Finding => ({
  result: 'failed',
  reason: failure ? `${failure.code}: ${failure.message}` : 'The asset failed.',
});

function findDifference(item: ItemFacts, asset: FoundAsset): string | undefined {
  const { size_bytes: size, checksum_sha256: sha256, duration_ms: duration } = asset;
  if (item.fileSizeBytes !== null && size !== null && item.fileSizeBytes !== size)
    return `size_bytes is ${size} instead of ${item.fileSizeBytes}.`;
  if (item.fileSha256 !== null && sha256 !== null && item.fileSha256 !== sha256)
    return `checksum_sha256 is ${sha256} instead of ${item.fileSha256}.`;
  if (item.durationMs !== null && duration !== null && !isSameDuration(item.durationMs, duration))
    return `duration_ms is ${duration} instead of ${item.durationMs}.`;
  return undefined;
}

/** Sources round to seconds, and their MP4 files may end with another frame. */
const TOLERANCE_MS = 1000;
const TOLERANCE_PART = 0.01;

const isSameDuration = (expectedMs: number, foundMs: number): boolean =>
  Math.abs(expectedMs - foundMs) <= Math.max(TOLERANCE_MS, expectedMs * TOLERANCE_PART);

function findMissingCaptions({ expected, present }: Captions): string | undefined {
  const missing = expected.filter((language) => !present.includes(language));
  return missing.length === 0 ? undefined : `Captions are missing: ${missing.join(', ')}.`;
}

/** How a failed asset gets another attempt: stored bytes are processed again, others are moved again. */
export const decideRetry = ({ uploaded_at: uploadedAt }: FoundAsset): 'retry' | 'import_again' =>
  uploadedAt === null ? 'import_again' : 'retry';
