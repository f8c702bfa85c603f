// A strip of frames from the start of a video to its end, to look for a place in it.
import { UnstyledButton } from '@mantine/core';
import { useState } from 'react';
import { formatDuration } from '../../../parts/format.ts';
import type { Frames, Tile } from './frames.ts';

const COUNT = 8;
const FRAME_WIDTH = 160;

type StripProps = {
  readonly frames: Frames;
  readonly duration: number;
  readonly onPick: (ms: number) => void;
};

/** Without a storyboard, frames are rendered one after the other: the service renders few at a time. */
export function FrameStrip({ frames, duration, onPick }: StripProps) {
  const [loaded, setLoaded] = useState(0);
  return (
    <div className="frame-strip">
      {Array.from({ length: COUNT }, (_, index) => {
        const ms = Math.floor(((index + 0.5) * duration) / COUNT);
        return (
          <UnstyledButton
            key={ms}
            onClick={() => onPick(ms)}
            aria-label={`The frame at ${formatDuration(ms)}`}
            className="frame-strip-tile"
          >
            <StripPicture
              frames={frames}
              ms={ms}
              isDue={index <= loaded}
              onSettled={() => setLoaded((count) => Math.max(count, index + 1))}
            />
          </UnstyledButton>
        );
      })}
    </div>
  );
}

type PictureProps = {
  readonly frames: Frames;
  readonly ms: number;
  readonly isDue: boolean;
  readonly onSettled: () => void;
};

function StripPicture({ frames: { tiles, frameUrl }, ms, isDue, onSettled }: PictureProps) {
  const tile = tiles.find(({ endMs }) => ms < endMs) ?? tiles.at(-1);
  if (tile) return <SpritePart tile={tile} />;
  return (
    frameUrl && isDue && <img src={frameUrl(ms, FRAME_WIDTH)} alt="" onLoad={onSettled} onError={onSettled} />
  );
}

/** An SVG scales a part of a picture to any size. */
const SpritePart = ({ tile: { url, x, y, width, height } }: { readonly tile: Tile }) => (
  <svg viewBox={`${x} ${y} ${width} ${height}`} preserveAspectRatio="xMidYMid slice" aria-hidden="true">
    <image href={url} />
  </svg>
);
