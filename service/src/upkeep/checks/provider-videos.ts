// Compares the assets with the videos of hosted providers, by one listing of each provider.
import type { ProviderName } from '../../assets/asset.ts';
import { inBatches } from '../../platform/concurrency/in-batches.ts';
import { isUuid } from '../../platform/values/uuid.ts';
import { type ListedVideo, ProviderError } from '../../providers/provider.ts';
import type { UpkeepContext } from '../context.ts';
import { findAssetsOfVideos } from '../upkeep.sql.ts';
import type { CheckRow, Finding } from './check.sql.ts';
import {
  deleteListedVideos,
  hasVideosAt,
  insertListedVideos,
  listLinkedAssets,
  listRecordedVideos,
} from './video.sql.ts';

const BATCH = 200;
const DELETED = 10_000;
/** A younger video may still be linked. */
const MIN_AGE_MS = 3_600_000;

type VideoBatch = {
  readonly findings: readonly Finding[];
  readonly videos: number;
  /** A provider that could not be asked. */
  readonly skipped?: ProviderName;
};

/** After a crash the stage starts anew: it counts all videos again, and skips what is recorded. */
export async function* compareVideos(
  ctx: UpkeepContext,
  check: Pick<CheckRow, 'id' | 'options' | 'counts'>,
): AsyncGenerator<VideoBatch> {
  await deleteListed(ctx, check.id);
  yield { findings: [], videos: -check.counts.videos };
  for await (const batch of compareProviders(ctx, check))
    yield { ...batch, findings: await listUnrecorded(ctx, check.id, batch.findings) };
  await deleteListed(ctx, check.id);
}

async function* compareProviders(
  ctx: UpkeepContext,
  check: Pick<CheckRow, 'id' | 'options'>,
): AsyncGenerator<VideoBatch> {
  for (const { name, kind, api } of ctx.providers.registry.values()) {
    if (kind !== 'hosted') continue;
    if (api) yield* compareProvider(ctx, name, check);
    else if (await hasVideosAt(ctx.db, name)) yield { findings: [], videos: 0, skipped: name };
  }
}

/** The findings that no earlier run of this check has recorded. */
async function listUnrecorded({ db }: UpkeepContext, checkId: string, findings: readonly Finding[]) {
  if (findings.length === 0) return findings;
  const videoIds = findings.flatMap(({ provider_video_id: videoId }) => videoId ?? []);
  const recorded = new Set((await listRecordedVideos(db, checkId, videoIds)).map(keyOf));
  return findings.filter((finding) => !recorded.has(keyOf(finding)));
}

const keyOf = ({ kind, provider, provider_video_id: videoId }: Omit<Finding, 'repair'>): string =>
  [kind, provider, videoId].join(' ');

async function deleteListed({ db }: UpkeepContext, checkId: string): Promise<void> {
  while ((await deleteListedVideos(db, checkId, DELETED)) === DELETED);
}

async function* compareProvider(
  ctx: UpkeepContext,
  name: ProviderName,
  check: Pick<CheckRow, 'id' | 'options'>,
): AsyncGenerator<VideoBatch> {
  try {
    for await (const videos of listBatches(ctx, name)) {
      const videoIds = videos.map(({ videoId }) => videoId);
      await insertListedVideos(ctx.db, { id: check.id, provider: name, videoIds });
      yield { findings: await findUnlinked(ctx, { name, videos, ...check.options }), videos: videos.length };
    }
    yield* findMissing(ctx, name, check.id);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    yield { findings: [], videos: 0, skipped: name };
  }
}

/** Each batch is a call: the circuit breaker counts the requests of the whole listing. */
async function* listBatches({ providers }: UpkeepContext, name: ProviderName): AsyncGenerator<ListedVideo[]> {
  let batches: AsyncGenerator<ListedVideo[]> | undefined;
  for (;;) {
    const { done, value } = await providers.call(name, (api) => {
      batches ??= inBatches(api.list(), BATCH);
      return batches.next();
    });
    if (done) return;
    yield value;
  }
}

type ListedVideos = {
  readonly name: ProviderName;
  readonly videos: readonly ListedVideo[];
  readonly deleteUnknown: boolean;
};

/** Only videos that were created for an asset, because services can share an account. */
async function findUnlinked(
  { db, clocks }: UpkeepContext,
  { name, videos, deleteUnknown }: ListedVideos,
): Promise<Finding[]> {
  const before = (await clocks.databaseNow()).getTime() - MIN_AGE_MS;
  const own = videos.flatMap(({ videoId, assetId, createdAt }) =>
    assetId !== undefined && isUuid(assetId) && createdAt.getTime() <= before
      ? [{ videoId, assetId: assetId.toLowerCase() }]
      : [],
  );
  const rows = await findAssetsOfVideos(
    db,
    own.map(({ assetId }) => assetId),
  );
  const assets = new Map(rows.map((asset) => [asset.id, asset]));
  return own.flatMap(({ videoId, assetId }): Finding[] => {
    const asset = assets.get(assetId);
    if (asset && !asset.is_purged && asset.provider_video_id === videoId) return [];
    return [
      {
        kind: 'unlinked_video',
        repair: asset || deleteUnknown ? 'delete_video' : 'none',
        asset_id: assetId,
        provider: name,
        provider_video_id: videoId,
      },
    ];
  });
}

/** The provider confirms each: it may list videos late. */
async function* findMissing(
  ctx: UpkeepContext,
  provider: ProviderName,
  checkId: string,
): AsyncGenerator<VideoBatch> {
  let after = '';
  for (;;) {
    const assets = await listLinkedAssets(ctx.db, { checkId, provider, after, limit: BATCH });
    const findings: Finding[] = [];
    for (const { id, provider_video_id: videoId } of assets.filter(({ is_lost: isLost }) => isLost)) {
      const { state } = await ctx.providers.call(provider, (api) => api.inspect(videoId as string));
      if (state === 'missing')
        findings.push({
          kind: 'provider_video_missing',
          repair: 'fail_provider_video',
          asset_id: id,
          provider,
          provider_video_id: videoId,
        });
    }
    yield { findings, videos: 0 };
    if (assets.length < BATCH) return;
    after = assets.at(-1)?.provider_video_id ?? after;
  }
}
