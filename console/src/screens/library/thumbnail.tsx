// The picture of an asset: its ThumbHash first, then the thumbnail; an icon of its kind where there is none.
import type { Asset } from '@mediary/client';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { thumbHashToDataURL } from 'thumbhash';
import { playbackQuery } from '../../api/assets.ts';
import { Icon } from '../../parts/icon.tsx';

const ICONS = { video: 'film', image: 'photo', audio: 'sound' } as const;

export function Thumbnail({ asset }: { readonly asset: Asset }) {
  const canShow = asset.deleted_at === null && asset.playback?.thumbnail != null;
  const { data: playback } = useQuery({
    ...playbackQuery(asset),
    enabled: canShow && asset.visibility === 'private',
  });
  const url = asset.visibility === 'public' ? asset.playback?.thumbnail : playback?.thumbnail;
  const placeholder = useMemo(() => toPlaceholder(asset.placeholder), [asset.placeholder]);
  return (
    <>
      {!placeholder && !canShow && <Icon name={ICONS[asset.kind]} size={40} />}
      {placeholder && <img src={placeholder} alt="" />}
      {canShow && url && <img src={url} alt="" loading="lazy" decoding="async" />}
    </>
  );
}

function toPlaceholder(thumbHash: string | null): string | undefined {
  if (thumbHash === null) return undefined;
  return thumbHashToDataURL(Uint8Array.from(atob(thumbHash), (letter) => letter.charCodeAt(0)));
}
