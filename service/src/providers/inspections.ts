// Inspects many videos: by the provider's listing if there are many, otherwise one by one, within a rate
// limit.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { type Inspection, ProviderError } from './provider.ts';
import type { CallProvider } from './provider-calls.ts';

type InspectionNeeds = { readonly call: CallProvider };

type InspectionResult = Inspection | ProviderError;

/** Fewer videos are inspected one by one. */
const LIST_THRESHOLD = 20;
/** Only the newest videos are listed; older ones are inspected one by one. */
const MAX_LISTED = 3000;
const MAX_INSPECTED = 100;

/**
 * Results by asset; assets beyond the rate limit are omitted. All assets must have a video at a provider with
 * an API.
 */
export async function inspectAll(
  { call }: InspectionNeeds,
  assets: readonly Asset[],
): Promise<ReadonlyMap<string, InspectionResult>> {
  const groups = Map.groupBy(assets, ({ provider }) => provider ?? '');
  const results = await Promise.all([...groups].map(([name, group]) => inspectGroup(call, name, group)));
  return new Map(results.flatMap((found) => [...found]));
}

async function inspectGroup(
  call: CallProvider,
  name: ProviderName,
  assets: readonly Asset[],
): Promise<Map<string, InspectionResult>> {
  const listed =
    assets.length < LIST_THRESHOLD
      ? new Map<string, Inspection>()
      : await listInspections(call, name, new Set(assets.map(videoOf)));
  const results = new Map<string, InspectionResult>(
    assets.flatMap((asset) => {
      const found = listed.get(videoOf(asset));
      return found ? [[asset.id, found]] : [];
    }),
  );
  const rest = assets.filter(({ id }) => !results.has(id)).slice(0, MAX_INSPECTED);
  for (const asset of rest)
    results.set(asset.id, await call(name, (api) => api.inspect(videoOf(asset))).catch(toProviderFailure));
  return results;
}

/**
 * The requested videos of a listing. A failed listing returns none; the single inspections report the error.
 */
async function listInspections(
  call: CallProvider,
  name: ProviderName,
  requested: ReadonlySet<string>,
): Promise<Map<string, Inspection>> {
  const found = new Map<string, Inspection>();
  const reading = call(name, async (api) => {
    let seen = 0;
    for await (const video of api.list()) {
      if (requested.has(video.videoId)) found.set(video.videoId, video.inspection());
      if (found.size === requested.size || ++seen >= MAX_LISTED) return;
    }
  });
  await reading.catch(toProviderFailure);
  return found;
}

const videoOf = ({ provider_video_id: id }: Asset): string => id ?? '';

function toProviderFailure(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  throw error;
}
