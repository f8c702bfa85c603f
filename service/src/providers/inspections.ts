// Asks about many videos: by a provider's own listing where there are many, one by one for the rest, and never more in a minute than a provider bears.
import type { Asset, ProviderName } from '../assets/asset.ts';
import { type Inspection, ProviderFailed } from './provider.ts';
import type { Call } from './provider-calls.ts';

export type InspectionNeeds = { readonly call: Call };

/** Fewer are asked about one by one. */
const LIST_THRESHOLD = 20;
/** The newest; older ones are asked about one by one. */
const MAX_LISTED = 3000;
const MAX_INSPECTED = 100;

/** By asset; of assets beyond the limit nothing is said. All of them have a video at a provider that can be asked. */
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

/** What a listing says of the videos wanted; a listing that fails says nothing, and the questions that follow say why. */
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
