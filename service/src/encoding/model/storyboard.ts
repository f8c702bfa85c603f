// Plans the sprites of a storyboard, and formats the WebVTT file that names their tiles (contract B5).
import { formatTime } from '../../captions/caption-file.ts';
import { type CmafTrack, trackSeconds } from './cmaf-track.ts';
import { getVideoForWidth } from './track-choice.ts';

export type StoryboardPlan = {
  /** Between two tiles. */
  readonly intervalSeconds: number;
  readonly tiles: number;
  readonly tile: { readonly width: number; readonly height: number };
  /** Columns and rows of one sprite. */
  readonly columns: number;
  readonly rows: number;
  readonly sprites: number;
};

/** Tiles are made of the key frames, which are two seconds apart. */
const MIN_INTERVAL_S = 2;
const MAX_TILES = 300;
const COLUMNS = 10;
const ROWS = 10;
/** Pixels of the longer side. */
const TILE_LENGTH = 160;

type VideoSize = { readonly seconds: number; readonly width: number; readonly height: number };

/** Longer videos have longer intervals, so that at most three sprites exist. */
export function planStoryboard({ seconds, width, height }: VideoSize): StoryboardPlan {
  const intervalSeconds = Math.max(MIN_INTERVAL_S, Math.ceil(seconds / MAX_TILES));
  const tiles = Math.max(1, Math.ceil(seconds / intervalSeconds));
  const scale = Math.min(1, TILE_LENGTH / Math.max(width, height));
  const even = (length: number) => Math.max(2, Math.round((length * scale) / 2) * 2);
  const columns = Math.min(COLUMNS, tiles);
  const rows = Math.min(ROWS, Math.ceil(tiles / columns));
  return {
    intervalSeconds,
    tiles,
    tile: { width: even(width), height: even(height) },
    columns,
    rows,
    sprites: Math.ceil(tiles / (columns * rows)),
  };
}

/** The plan by which the sprites of these renditions are made. */
export function storyboardOf(tracks: readonly CmafTrack[]): StoryboardPlan & { readonly seconds: number } {
  const track = getVideoForWidth(tracks, 0);
  const seconds = trackSeconds(track);
  return { ...planStoryboard({ ...track.size, seconds }), seconds };
}

/** `%d` stands for the number in ffmpeg, `$Number$` in DASH. */
export const spriteName = (number: number | '%d' | '$Number$'): string => `storyboard-${number}.jpg`;

export const tileTimes = ({ tiles, intervalSeconds }: StoryboardPlan): readonly number[] =>
  Array.from({ length: tiles }, (_, index) => index * intervalSeconds);

type Cue = { readonly plan: StoryboardPlan; readonly seconds: number; readonly folder: string };

/** `folder`: of the sprites, relative to the WebVTT file. */
export function formatStoryboard({ plan, seconds, folder }: Cue): string {
  const cues = tileTimes(plan).map((start, index) => {
    const end = Math.min(seconds, start + plan.intervalSeconds);
    return `${timestamp(start)} --> ${timestamp(end)}\n${folder}/${tileUrl(plan, index)}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

function tileUrl({ columns, rows, tile: { width, height } }: StoryboardPlan, index: number): string {
  const place = index % (columns * rows);
  const [column, row] = [place % columns, Math.floor(place / columns)];
  const sprite = spriteName(1 + Math.floor(index / (columns * rows)));
  return `${sprite}#xywh=${column * width},${row * height},${width},${height}`;
}

const timestamp = (seconds: number): string => formatTime(Math.round(seconds * 1000));
