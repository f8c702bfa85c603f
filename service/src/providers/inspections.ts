// Inspects many videos: by the provider's listing if there are many, otherwise one by one, within a rate
// limit.
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { ProvidersContext } from './context.ts';
import { videoOf } from './hosted-videos.ts';
import { type Inspection, ProviderError } from './provider.ts';
import { callProvider } from './provider-calls.ts';

type InspectionResult = Inspection | ProviderError;

/** The service inspects fewer videos one by one. */
const LIST_THRESHOLD = 20;
/** The listing reads only the newest videos; the service inspects older ones one by one. */
const MAX_LISTED = 3000;
const MAX_INSPECTED = 100;

/**
 * Results by asset, without those beyond the rate limit. All assets must have a video at a provider with an
 * API.
 */
export async function inspectAll(
  ctx: ProvidersContext,
  assets: readonly Asset[],
): Promise<ReadonlyMap<string, InspectionResult>> {
  const groups = Map.groupBy(assets, ({ provider }) => provider ?? '');
  const results = await Promise.all([...groups].map(([name, group]) => inspectGroup(ctx, name, group)));
  return new Map(results.flatMap((found) => [...found]));
}

async function inspectGroup(
  ctx: ProvidersContext,
  name: ProviderName,
  assets: readonly Asset[],
): Promise<Map<string, InspectionResult>> {
  const listed =
    assets.length < LIST_THRESHOLD
      ? new Map<string, Inspection>()
      : await listInspections(ctx, name, new Set(assets.map(videoOf)));
  const results = new Map<string, InspectionResult>(
    assets.flatMap((asset) => {
      const found = listed.get(videoOf(asset));
      return found ? [[asset.id, found]] : [];
    }),
  );
  const rest = assets.filter(({ id }) => !results.has(id)).slice(0, MAX_INSPECTED);
  for (const asset of rest)
    results.set(
      asset.id,
      await callProvider(ctx, name, (api) => api.inspect(videoOf(asset))).catch(toProviderFailure),
    );
  return results;
}

/** The requested videos of a listing; none if it fails, because the single inspections report the error. */
async function listInspections(
  ctx: ProvidersContext,
  name: ProviderName,
  requested: ReadonlySet<string>,
): Promise<Map<string, Inspection>> {
  const found = new Map<string, Inspection>();
  const reading = callProvider(ctx, name, async (api) => {
    let seen = 0;
    for await (const video of api.list()) {
      if (requested.has(video.videoId)) found.set(video.videoId, video.inspection());
      if (found.size === requested.size || ++seen >= MAX_LISTED) return;
    }
  });
  await reading.catch(toProviderFailure);
  return found;
}

function toProviderFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  throw error;
}
