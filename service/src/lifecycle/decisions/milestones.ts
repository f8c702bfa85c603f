// The log lines of an asset that became playable, ready or failed.
import type { EventType } from '@mediary/contract/enums';
import type { Asset } from '../../assets/asset.ts';
import type { NewEvent } from '../../assets/asset-event.ts';

type MilestoneLine = {
  readonly level: 'info' | 'warn';
  readonly facts: Readonly<Record<string, unknown>>;
  readonly message: string;
};

const MESSAGES: Partial<Record<EventType, string>> = {
  'asset.playable': 'asset playable',
  'asset.ready': 'asset ready',
  'asset.failed': 'asset failed',
};

/** Facts without a text of users: file names and titles may be personal. */
export function toMilestoneLines(
  asset: Asset,
  events: readonly Pick<NewEvent, 'type'>[],
  now: Date,
): MilestoneLine[] {
  return events.flatMap(({ type }) => {
    const message = MESSAGES[type];
    if (message === undefined) return [];
    const hasFailed = type === 'asset.failed';
    const facts = { ...toFacts(asset, now), ...(hasFailed ? toFailure(asset) : toHeights(asset)) };
    return [{ level: hasFailed ? 'warn' : 'info', facts, message }];
  });
}

/** `seconds`: since the upload finished, else since the asset was created. */
const toFacts = (asset: Asset, now: Date) => ({
  asset_id: asset.id,
  kind: asset.kind,
  ...(asset.provider && { provider: asset.provider }),
  ...(asset.attempt > 1 && { attempt: asset.attempt }),
  seconds: Math.round((now.getTime() - (asset.uploaded_at ?? asset.created_at).getTime()) / 100) / 10,
});

/** Never the message, which may be the text of another encoder. */
const toFailure = ({ failure }: Asset) => ({ code: failure?.code });

function toHeights({ renditions }: Asset): object {
  const heights = new Set(renditions.filter(({ state }) => state === 'ready').map(({ height }) => height));
  return heights.size === 0 ? {} : { heights: [...heights] };
}
