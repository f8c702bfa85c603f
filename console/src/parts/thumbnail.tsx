// The picture of an asset: its ThumbHash first, then the thumbnail; an icon of its kind where there is none.
import type { Asset } from '@mediary/client';
import { useTimeout } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { thumbHashToAverageRGBA, thumbHashToDataURL } from 'thumbhash';
import { playbackQuery } from '../api/assets.ts';
import { Icon } from './icon.tsx';

const ICONS = { video: 'film', image: 'photo', audio: 'sound' } as const;

/** Tiles that only pass cause no request, and show one colour. */
const READ_AFTER_MS = 150;
/** A URL takes memory; a long list has thousands of them. */
const KEPT_MS = 30_000;

type AssetProps = { readonly asset: Asset };

export function Thumbnail({ asset }: AssetProps) {
  const { deleted_at: deletedAt, playback, placeholder, visibility } = asset;
  const [isResting, setIsResting] = useState(false);
  useTimeout(() => setIsResting(true), READ_AFTER_MS, { autoInvoke: true });
  const canShow = deletedAt === null && playback?.thumbnail != null;
  return (
    <>
      {placeholder === null && !canShow && <Icon name={ICONS[asset.kind]} size={40} />}
      {placeholder !== null && <Placeholder thumbHash={placeholder} isColor={!isResting} />}
      {canShow && isResting && visibility === 'public' && <Picture url={playback.thumbnail} />}
      {canShow && isResting && visibility === 'private' && <PrivatePicture asset={asset} />}
    </>
  );
}

function PrivatePicture({ asset }: AssetProps) {
  const { data } = useQuery({ ...playbackQuery(asset), gcTime: KEPT_MS });
  return <Picture url={data?.thumbnail} />;
}

const Picture = ({ url }: { readonly url: string | null | undefined }) =>
  url ? <img src={url} alt="" loading="lazy" decoding="async" /> : null;

type PlaceholderProps = { readonly thumbHash: string; readonly isColor: boolean };

/** A colour takes a hundredth of the time of a picture. */
function Placeholder({ thumbHash, isColor }: PlaceholderProps) {
  const bytes = useMemo(
    () => Uint8Array.from(atob(thumbHash), (letter) => letter.charCodeAt(0)),
    [thumbHash],
  );
  const url = useMemo(() => (isColor ? undefined : thumbHashToDataURL(bytes)), [isColor, bytes]);
  if (url !== undefined) return <img src={url} alt="" />;
  const { r, g, b } = thumbHashToAverageRGBA(bytes);
  const [red, green, blue] = [r, g, b].map((share) => Math.round(share * 255));
  return <div className="tile-color" style={{ background: `rgb(${red} ${green} ${blue})` }} />;
}
