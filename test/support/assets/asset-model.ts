// Foretells what the API answers to the commands of one owner, knowing nothing of how the service does it:
// the contract's words as a few fields (A6, B2, B4, B6).
import type { By, Create, IfMatch, Report, Step } from './asset-steps.ts';

const RANK = ['pending_upload', 'processing', 'failed', 'ready'] as const;

export type ModelAsset = {
  readonly kind: Create['kind'];
  announces: Create['announces'];
  readonly videoId: string | null;
  place: 'there' | 'trash' | 'gone';
  title: string | null;
  version: number;
  bytes: 'right' | 'short' | 'wrong' | null;
  status: (typeof RANK)[number];
  attempt: number;
  progress: number;
  warnings: readonly string[];
  hls: string | null;
  hlsAttempt: number;
  isHlsGiven: boolean;
  /** Why the service rejected it, or that a failure was reported. */
  failure: string | null;
};
export type World = {
  readonly run: string;
  readonly assets: ModelAsset[];
  readonly parked: Map<string, Report[]>;
};
/** What has to be seen; what is not here may be anything. `shown` is of the answer's data. */
export type Expected = {
  readonly status: number;
  readonly error?: string;
  readonly reason?: string;
  readonly shown?: object;
};

export const REFUSALS = ['checksum_mismatch', 'type_mismatch', 'not_media'];
const isRefused = ({ failure }: ModelAsset) => REFUSALS.includes(String(failure));

/** The last one for numbers beyond it. */
export const assetAt = ({ assets }: World, at: number): ModelAsset | undefined =>
  assets[Math.min(at, assets.length - 1)];
export const videoIdOf = ({ run }: World, video: number): string => `${run} video ${video}`;
/** The attempt that a report names. */
export const namedAttempt = (asset: ModelAsset | undefined, ahead: number): number =>
  Math.max(1, (asset?.attempt ?? 1) + ahead);

const no = (status: number, error: string, reason?: string): Expected => ({
  status,
  error,
  ...(reason && { reason }),
});
const notFound = no(404, 'NOT_FOUND');
const conflict = no(409, 'CONFLICT');
const yes = (shown: object): Expected => ({ status: 200, shown });

const viewOf = ({ status, version, progress, title, hls, warnings, failure, place }: ModelAsset) => ({
  stream_status: status,
  version,
  progress,
  title,
  hls,
  warnings: [...warnings].sort(),
  failure,
  inTrash: place === 'trash',
});

/** What the step is answered; the world is as the step leaves it. Undefined: there is nothing to send. */
export function foretell(world: World, step: Step): Expected | undefined {
  if (step.do === 'create') return create(world, step);
  if (step.do === 'report') return report(world, step);
  const asset = assetAt(world, step.at);
  if (step.do === 'put') return asset && !asset.videoId ? put(asset, step) : undefined;
  const isInTrash = asset?.place === 'trash' && (step.do === 'remove' || step.do === 'restore');
  if (!asset || (asset.place !== 'there' && !isInTrash)) return notFound;
  if (step.by === 'other') return no(403, 'FORBIDDEN');
  return admitted(world, asset, step);
}

function admitted(world: World, asset: ModelAsset, step: Step & { readonly by: By }): Expected {
  switch (step.do) {
    case 'complete':
      return complete(asset);
    case 'retry':
      return retry(asset);
    case 'restore':
      return restore(world, asset);
    case 'remove':
      return isStale(step.ifMatch) ? no(412, 'PRECONDITION_FAILED') : remove(asset, step.purge);
    case 'edit':
      return isStale(step.ifMatch)
        ? no(412, 'PRECONDITION_FAILED')
        : shown(asset, { title: step.title, version: asset.version + 1 });
    case 'playback':
      return yes({ stream_status: asset.status, hls: asset.hls });
    case 'download':
      return asset.bytes ? { status: 200 } : no(404, 'NOT_FOUND', 'not_uploaded');
    default:
      return yes(viewOf(asset));
  }
}

const isStale = (ifMatch: IfMatch) => ifMatch === 'older' || ifMatch === 'newer';
const shown = (asset: ModelAsset, change: Partial<ModelAsset> = {}): Expected =>
  yes(viewOf(Object.assign(asset, change)));

function create(world: World, { kind, by, title, announces, video }: Create): Expected {
  const isHosted = kind === 'cdnhost' || kind === 'edgehost';
  // Not configured for uploads, and a user's own provider_video_id is ignored.
  if (isHosted && by === 'owner') return no(400, 'BAD_REQUEST');
  const videoId = isHosted ? videoIdOf(world, video) : null;
  if (livingWith(world, kind, videoId)) return conflict;
  const asset: ModelAsset = {
    kind,
    announces,
    videoId,
    title,
    place: 'there',
    version: 1,
    bytes: null,
    status: 'pending_upload',
    attempt: 1,
    progress: 0,
    warnings: [],
    hls: null,
    hlsAttempt: 0,
    isHlsGiven: false,
    failure: null,
  };
  world.assets.push(asset);
  const key = `${kind} ${videoId}`;
  for (const parked of world.parked.get(key) ?? []) hear(asset, parked);
  world.parked.delete(key);
  return yes({ ...viewOf(asset), offersUpload: !isHosted });
}

const livingWith = ({ assets }: World, kind: string, videoId: string | null) =>
  videoId === null
    ? undefined
    : assets.find((asset) => asset.kind === kind && asset.videoId === videoId && asset.place === 'there');

function put(asset: ModelAsset, { bytes, isOtherType }: Step & { readonly do: 'put' }): Expected {
  if (asset.place !== 'there') return notFound;
  if (isOtherType) return no(415, 'UNSUPPORTED_MEDIA_TYPE');
  if (bytes === 'short' && asset.announces !== 'nothing') return no(400, 'BAD_REQUEST');
  if (asset.bytes || asset.status !== 'pending_upload') return conflict;
  return shown(asset, { bytes });
}

function complete(asset: ModelAsset): Expected {
  if (isRefused(asset)) return no(400, 'BAD_REQUEST', String(asset.failure));
  if (asset.status !== 'pending_upload') return shown(asset);
  if (!asset.videoId && !asset.bytes) return no(400, 'BAD_REQUEST', 'not_uploaded');
  const refusal = asset.videoId ? undefined : refusalOf(asset);
  if (!refusal) return shown(asset, { status: 'processing' });
  Object.assign(asset, { status: 'failed', failure: refusal, bytes: null });
  return no(400, 'BAD_REQUEST', refusal);
}

/** Half a picture still begins as one; half of a film has no index. */
function refusalOf({ kind, announces, bytes }: ModelAsset): string | undefined {
  if (announces === 'digest' && bytes !== 'right') return 'checksum_mismatch';
  if (bytes === 'wrong') return 'type_mismatch';
  return bytes === 'short' && kind !== 'image' ? 'not_media' : undefined;
}

function retry(asset: ModelAsset): Expected {
  if (asset.status === 'processing') return yes({ ...viewOf(asset), offersUpload: false });
  // Only a retry that opened another upload leaves a later attempt without bytes.
  const isReopened = asset.status === 'pending_upload' && asset.attempt > 1;
  if (isReopened) return yes({ ...viewOf(asset), offersUpload: !asset.bytes });
  if (asset.status !== 'failed' || asset.videoId) return conflict;
  if (asset.bytes) return yes({ ...viewOf(open(asset, asset.attempt + 1)), offersUpload: false });
  if (asset.failure === 'type_mismatch' || asset.failure === 'not_media') forgetAnnouncement(asset);
  Object.assign(open(asset, asset.attempt + 1), { status: 'pending_upload' });
  return yes({ ...viewOf(asset), offersUpload: true });
}

/** The announced bytes themselves were refused: others may follow. */
const forgetAnnouncement = (asset: ModelAsset) => Object.assign(asset, { announces: 'nothing' });

const open = (asset: ModelAsset, attempt: number): ModelAsset =>
  Object.assign(asset, { attempt, status: 'processing', progress: 0, warnings: [], failure: null });

function restore(world: World, asset: ModelAsset): Expected {
  if (asset.place === 'trash' && livingWith(world, asset.kind, asset.videoId)) return conflict;
  return shown(asset, { place: 'there' });
}

function remove(asset: ModelAsset, isForGood: boolean): Expected {
  if (isForGood || asset.place !== 'trash')
    Object.assign(asset, { place: isForGood ? 'gone' : 'trash', version: asset.version + 1 });
  return yes({ deleted: true });
}

const webhook = (reason?: string): Expected =>
  yes({ processed: !reason, message: reason ? `Webhook not processed: ${reason}` : 'Webhook processed' });

function report(world: World, step: Report): Expected {
  if (!step.isSigned) return no(401, 'UNAUTHORIZED');
  if (step.isOfOtherLibrary) return webhook('wrong_library');
  if (step.says === 'nothing') return webhook('not_actionable');
  if (step.provider === 'onprem') {
    const asset = assetAt(world, step.at);
    return webhook(asset ? hear(asset, step) : 'unknown_asset');
  }
  const videoId = videoIdOf(world, step.at);
  const asset =
    livingWith(world, step.provider, videoId) ??
    world.assets.find((one) => one.kind === step.provider && one.videoId === videoId);
  if (asset) return webhook(hear(asset, step));
  const key = `${step.provider} ${videoId}`;
  world.parked.set(key, [...(world.parked.get(key) ?? []), step]);
  return webhook('parked');
}

/** Applies a report; says why it does not count, if it does not. */
function hear(asset: ModelAsset, { provider, says, ahead, progress, hls }: Report): string | undefined {
  if (asset.place !== 'there') return 'deleted_asset';
  if (asset.kind !== provider) return 'wrong_provider';
  const attempt = ahead === undefined ? asset.attempt : namedAttempt(asset, ahead);
  if (attempt < asset.attempt) return 'older_attempt';
  if (attempt > asset.attempt) open(asset, attempt);
  else if (isRefused(asset)) return 'refused';
  const before = asset.status;
  asset.progress = Math.max(asset.progress, Math.min(100, progress ?? 0));
  asset.status = RANK[Math.max(RANK.indexOf(before), RANK.indexOf(says as 'ready'))] as 'ready';
  if (says === 'ready') play(asset, hls);
  else if (says === 'failed' && before === 'ready') warn(asset, 'encoding_incomplete');
  else if (says === 'failed') asset.failure = 'reported';
  return asset.status === says ? undefined : 'late';
}

/** Earlier attempts no longer play. A `*` marks a computed URL, which replaces no reported one. */
function play(asset: ModelAsset, url: string | undefined): void {
  const isSame = asset.hlsAttempt === asset.attempt;
  const wasGiven = isSame && asset.isHlsGiven;
  const isRefused = url !== undefined && !url.startsWith('https:');
  const isKept = url === undefined || (url.includes('*') && wasGiven);
  const latest = isRefused ? null : (url ?? '').replace('*', encodeURIComponent(asset.videoId ?? ''));
  const hls = isKept ? (isSame ? asset.hls : null) : latest;
  const isHlsGiven = wasGiven || (url !== undefined && !url.includes('*'));
  Object.assign(asset, { progress: 100, failure: null, hls, hlsAttempt: asset.attempt, isHlsGiven });
  if (isRefused) warn(asset, 'playback_url_refused');
}

const warn = (asset: ModelAsset, code: string) => {
  asset.warnings = [...new Set([...asset.warnings, code])];
};
