// Links assets to providers' videos: what was reported before the link is applied once it is there (contract B6).
import type { Asset, ProviderName } from '../assets/asset.ts';
import type { Outcome } from '../assets/delivery.ts';
import type { Cause } from '../assets/reports.ts';
import type { StreamReport } from '../assets/stream-report.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { Provider } from './provider.ts';
import { parkedDeliveries } from './providers.sql.ts';

export type ProviderNeeds = {
  readonly db: Database;
  readonly providers: Readonly<Record<ProviderName, Provider>>;
  readonly apply: (report: StreamReport, cause: Cause) => Promise<Outcome | undefined>;
  readonly byId: (id: string) => Promise<Asset | undefined>;
};

/** Call after the link's commit. Answers the asset as the parked reports leave it. */
export async function applyParked({ db, providers, apply, byId }: ProviderNeeds, asset: Asset): Promise<Asset> {
  if (!asset.provider || asset.provider_video_id === null) return asset;
  const parked = await parkedDeliveries(db, asset.provider, asset.provider_video_id);
  for (const delivery of parked) {
    const reading = providers[asset.provider].read(delivery.body);
    if ('report' in reading) await apply(reading.report, { ref: { assetId: asset.id }, delivery });
  }
  return parked.length > 0 ? ((await byId(asset.id)) ?? asset) : asset;
}
