// Plays an asset: the embed page of video or audio, or the picture of an image.
import type { Asset } from '@mediary/client';
import { Anchor, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { playbackQuery } from '../../api/assets.ts';
import { Problem } from '../../parts/problem.tsx';

export function AssetPlayer({ asset }: { readonly asset: Asset }) {
  const canPlay = asset.stream_status === 'ready' || asset.playable_at !== null;
  const { data: playback, error } = useQuery({
    ...playbackQuery(asset),
    enabled: canPlay && asset.deleted_at === null,
  });
  if (!canPlay || asset.deleted_at !== null) return null;
  if (error) return <Problem error={error} />;
  if (!playback) return <Skeleton className="player-frame" />;
  const name = asset.title ?? asset.filename;
  if (playback.kind === 'image')
    return (
      <img
        className="picture-large"
        src={toSized(playback.image)}
        alt={name}
        // The page keeps the space while the picture loads.
        width={asset.width ?? undefined}
        height={asset.height ?? undefined}
      />
    );
  if (playback.embed === null) return <NoPlayer dash={playback.dash} />;
  return (
    <iframe
      // The player reads chapters when it opens.
      key={JSON.stringify(asset.chapters)}
      className="player-frame"
      src={playback.embed}
      title={`Player of ${name}`}
      allow="fullscreen; picture-in-picture"
    />
  );
}

const NoPlayer = ({ dash }: { readonly dash: string | null }) => (
  <Text size="sm">
    The player needs HLS, which this asset does not have.{' '}
    {dash !== null && (
      <Anchor href={dash} target="_blank" rel="noreferrer">
        Open its DASH manifest
      </Anchor>
    )}
  </Text>
);

const WIDTH = 1280;

/** The URL of an image may have a query already. */
export function toSized(image: string | null): string {
  if (image === null) return '';
  const url = new URL(image);
  url.searchParams.set('w', String(WIDTH));
  return url.href;
}
