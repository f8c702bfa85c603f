// The message of a wait that ended without its event: what the service and the webhooks say about the asset.
import type { Asset, Mediary } from '@mediary/client';
import type { ReceivedDelivery } from './webhook-inbox.ts';

type EndedWait = {
  readonly type: string;
  readonly assetId: string | undefined;
  readonly timeoutMs: number;
  readonly deliveries: readonly ReceivedDelivery[];
};

const MAX_DELIVERIES = 10;

export async function describeTimeout(client: Mediary, wait: EndedWait): Promise<string> {
  const { type, assetId, timeoutMs, deliveries } = wait;
  const own = deliveries.filter(({ event }) => (assetId ?? event.asset_id) === event.asset_id);
  const shown = own.slice(-MAX_DELIVERIES).map(({ event, result }) => `${event.type} (${result})`);
  return [
    `The event ${type} did not arrive within ${timeoutMs} ms.`,
    assetId === undefined ? undefined : await describeAsset(client, assetId),
    shown.length === 0 ? 'No webhook arrived.' : `Webhooks: ${shown.join(', ')}.`,
  ]
    .filter((line) => line !== undefined)
    .join(' ');
}

const describeAsset = (client: Mediary, assetId: string): Promise<string> =>
  client.media.get(assetId, { maxRetries: 0 }).then(
    (asset) => `The asset ${assetId} is ${describeState(asset)}.`,
    (error: Error) => `The asset ${assetId} cannot be read: ${error.message}.`,
  );

function describeState({ stream_status: state, progress, failure }: Asset): string {
  if (failure) return `${state}: ${failure.code} (${failure.message})`;
  return state === 'processing' ? `${state}, ${progress} %` : state;
}
