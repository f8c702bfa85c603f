// Inspects many videos: by the provider's listing if there are many, otherwise one by one, within a rate limit.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { type Inspection, ProviderFailed } from './provider.ts';
import type { Call } from './provider-calls.ts';

type InspectionNeeds = { readonly call: Call };

/** Fewer videos are inspected one by one. */
const LIST_THRESHOLD = 20;
/** Only the newest videos are listed; older ones are inspected one by one. */
const MAX_LISTED = 3000;
const MAX_INSPECTED = 100;

/** Results by asset; assets beyond the rate limit are omitted. All assets must have a video at a provider with an API. */
export async function inspectAll(
  { call }: InspectionNeeds,
  assets: readonly Asset[],
): Promise<ReadonlyMap<string, Inspection | ProviderFailed>> {
  const groups = Map.groupBy(assets, ({ provider }) => provider ?? '');
  const answers = await Promise.all([...groups].map(([name, group]) => inspectGroup(call, name, group)));
  return new Map(answers.flatMap((found) => [...found]));
}

async function inspectGroup(
  call: Call,
  name: ProviderName,
  assets: readonly Asset[],
): Promise<Map<string, Inspection | ProviderFailed>> {
  const listed =
    assets.length < LIST_THRESHOLD
      ? new Map<string, Inspection>()
      : await listedAmong(call, name, new Set(assets.map(videoOf)));
  const answers = new Map<string, Inspection | ProviderFailed>(
    assets.flatMap((asset) => {
      const found = listed.get(videoOf(asset));
      return found ? [[asset.id, found]] : [];
    }),
  );
  const rest = assets.filter(({ id }) => !answers.has(id)).slice(0, MAX_INSPECTED);
  for (const asset of rest)
    answers.set(asset.id, await call(name, (api) => api.inspect(videoOf(asset))).catch(toProviderFailure));
  return answers;
}

/** The requested videos of a listing. A failed listing returns none; the single inspections report the error. */
async function listedAmong(
  call: Call,
  name: ProviderName,
  wanted: ReadonlySet<string>,
): Promise<Map<string, Inspection>> {
  const found = new Map<string, Inspection>();
  const reading = call(name, async (api) => {
    let seen = 0;
    for await (const video of api.list()) {
      if (wanted.has(video.videoId)) found.set(video.videoId, video.inspection());
      if (found.size === wanted.size || ++seen >= MAX_LISTED) return;
    }
  });
  await reading.catch(toProviderFailure);
  return found;
}

const videoOf = ({ provider_video_id: id }: Asset): string => id ?? '';

function toProviderFailure(error: unknown): ProviderFailed {
  if (error instanceof ProviderFailed) return error;
  throw error;
}
