// Replays of deliveries, and videos whose report was lost.
import { expectSuccess } from '../http/envelope.ts';
import { type AssetJson, openUpload, readAsset } from '../media.ts';
import { asOperator, call, type TestService } from '../service.ts';
import { rows } from '../service/traces.ts';
import { deliveriesOf, tell } from './webhooks.ts';

type Replayed = {
  id: string;
  asset_id: string | null;
  processed: boolean;
  reason: string;
  stream_status_before: string | null;
  stream_status_after: string | null;
  changes: string[];
};
export type ReplayPage = { dry_run: boolean; items: Replayed[]; next_cursor: string | null };

/** `service` is read at each call, because tests start it in a hook. */
export function replaysOf(service: () => TestService) {
  const ask = (json: object) =>
    call(service(), 'POST /admin/deliveries/replay', { headers: asOperator, json });
  const replay = async (json: object): Promise<ReplayPage> => expectSuccess(await ask(json)) as ReplayPage;
  const read = (id: string) => readAsset(service(), 'ann', id);
  /** As an asset is after a report was lost. */
  const putBack = async (...ids: string[]) => {
    await rows(
      service().dataDir,
      `update assets set stream_status = 'processing', progress = 0, renditions = '[]', playback = null,
         playable_at = null, ready_at = null, failure = null, warnings = '[]', attempt = 1,
         reconcile_at = now(), revision = revision + 1 where id = any($1)`,
      [ids],
    );
  };
  /** A video that an encoder elsewhere reported ready. */
  async function readyVideo(): Promise<AssetJson> {
    const { asset_id: id } = await openUpload(service(), 'ann', { visibility: 'public' });
    await tell(service(), 'onprem', { asset_id: id, status: 'processing', progress: 40 });
    await tell(service(), 'onprem', {
      asset_id: id,
      status: 'ready',
      playback: { hls: `https://v.example/${id}.m3u8` },
    });
    return read(id);
  }
  const idsOf = async (assetId: string) => (await deliveriesOf(service(), assetId)).map(({ id }) => id);

  return { ask, replay, read, putBack, readyVideo, idsOf };
}
