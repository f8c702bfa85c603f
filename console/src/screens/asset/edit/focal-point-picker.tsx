// Chooses the part of an image that crops keep, with previews of crops.
import type { Asset } from '@mediary/client';
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { playbackQuery, refreshAssets, refreshPlayback } from '../../../api/assets.ts';
import { mediary } from '../../../api/mediary.ts';
import { Problem } from '../../../parts/problem.tsx';
import { ownerOptions } from '../../../parts/use-action.ts';
import { toSized } from '../asset-player.tsx';
import type { EditorProps } from './asset-editor.tsx';
import { type Point, PointPad } from './point-pad.tsx';
import { SizedUrl } from './sized-url.tsx';
import './focal-point.css';

const CENTER: Point = { x: 0.5, y: 0.5 };

/** In pixels, where there is room. */
const PREVIEW_HEIGHT = 120;

const SHAPES = [
  { label: '1:1', width: 1, height: 1 },
  { label: '16:9', width: 16, height: 9 },
  { label: '9:16', width: 9, height: 16 },
] as const;

export function FocalPointPicker({ asset, session }: EditorProps) {
  const queries = useQueryClient();
  const { data: playback, error } = useQuery(playbackQuery(asset));
  const [point, setPoint] = useState(asset.focal_point ?? CENTER);
  const save = useMutation({
    mutationFn: (chosen: Point | null) =>
      mediary.media.update(asset.id, { focal_point: chosen }, ownerOptions(session, asset)),
    onSuccess: (changed) => setPoint(changed.focal_point ?? CENTER),
    onSettled: () => Promise.all([refreshAssets(queries), refreshPlayback(queries, asset.id)]),
  });
  if (error) return <Problem error={error} />;
  if (playback?.kind !== 'image' || playback.image === null) return <Skeleton h={240} />;
  const { image } = playback;
  const current = asset.focal_point;
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {describe(current)} Click into the picture, or move the mark with the arrow keys.
      </Text>
      <PointPad src={toSized(image)} point={point} onChange={setPoint} />
      <Previews asset={asset} src={toSized(image)} point={point} />
      {save.error && <Problem error={save.error} />}
      <Group>
        <Button
          loading={save.isPending}
          disabled={isSame(point, current ?? CENTER)}
          onClick={() => save.mutate(point)}
        >
          Save the focal point
        </Button>
        {current !== null && (
          <Button variant="default" loading={save.isPending} onClick={() => save.mutate(null)}>
            Use the center
          </Button>
        )}
      </Group>
      <SizedUrl image={image} expiresAt={asset.visibility === 'private' ? playback.expires_at : null} />
    </Stack>
  );
}

const isSame = (one: Point, other: Point): boolean => one.x === other.x && one.y === other.y;

const describe = (point: Asset['focal_point']): string =>
  point === null
    ? 'Crops keep the center.'
    : `Crops keep the point at ${formatPercent(point.x)} from the left and ${formatPercent(point.y)} from the top.`;

const formatPercent = (part: number): string => `${Math.round(100 * part)} %`;

type PreviewsProps = { readonly asset: Asset; readonly src: string; readonly point: Point };

/** CSS crops as the service does. */
const Previews = ({ asset, src, point }: PreviewsProps) => (
  <div className="crop-previews">
    {SHAPES.map(({ label, width, height }) => (
      <figure
        key={label}
        className="crop-preview"
        style={{ flexGrow: width / height, maxWidth: (PREVIEW_HEIGHT * width) / height }}
      >
        <img
          src={src}
          alt={`The crop ${label}`}
          style={{
            aspectRatio: `${width} / ${height}`,
            objectPosition: toPosition(asset, { width, height }, point),
          }}
        />
        <figcaption>{label}</figcaption>
      </figure>
    ))}
  </div>
);

type Size = { readonly width: number; readonly height: number };

/** `object-position` that brings the point as near to the middle of the box as the edges allow. */
function toPosition(image: Pick<Asset, 'width' | 'height'>, box: Size, { x, y }: Point): string {
  const { width, height } = { width: image.width ?? 1, height: image.height ?? 1 };
  const scale = Math.min(width / box.width, height / box.height);
  return `${toPercent(x, (box.width * scale) / width)} ${toPercent(y, (box.height * scale) / height)}`;
}

/** `kept`: the part of the side that the crop shows. */
function toPercent(at: number, kept: number): string {
  if (kept >= 1) return '50%';
  const start = Math.min(1 - kept, Math.max(0, at - kept / 2));
  return `${(100 * start) / (1 - kept)}%`;
}
