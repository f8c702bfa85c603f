// The state of an asset as a badge.
import type { Asset } from '@mediary/client';
import { Badge } from '@mantine/core';

const COLORS = { pending_upload: 'gray', processing: 'blue', failed: 'red', ready: 'teal' } as const;
export const STATE_WORDS = {
  pending_upload: 'Waiting for bytes',
  processing: 'Processing',
  failed: 'Failed',
  ready: 'Ready',
} as const;

export function Status({ asset }: { readonly asset: Asset }) {
  const { stream_status: status, progress, playable_at: playableAt, deleted_at: deletedAt } = asset;
  if (deletedAt)
    return (
      <Badge color="gray" variant="dot">
        In the trash
      </Badge>
    );
  const word = status === 'processing' && playableAt ? 'Playable' : STATE_WORDS[status];
  const percent = status === 'processing' && asset.kind !== 'image' ? ` ${progress} %` : '';
  return (
    <Badge color={COLORS[status]} variant="dot">
      {word}
      {percent}
    </Badge>
  );
}
