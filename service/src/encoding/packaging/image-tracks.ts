// Offers the sprites of a storyboard to players of DASH and HLS, which show them while viewers seek.
import type { CmafTrack } from '../model/cmaf-track.ts';
import { spriteName, type StoryboardPlan, storyboardOf } from '../model/storyboard.ts';

export const IMAGE_PLAYLIST_NAME = 'storyboard.m3u8';

/** JPEGs of such small pictures have less. */
const BITS_PER_PIXEL = 4;

const spriteSeconds = ({ columns, rows, intervalSeconds }: StoryboardPlan): number =>
  columns * rows * intervalSeconds;

const bandwidthOf = (plan: StoryboardPlan): number =>
  Math.ceil((plan.tile.width * plan.tile.height * BITS_PER_PIXEL) / plan.intervalSeconds);

/** Ids of other adaptation sets are lower, or above a thousand. */
const SET_ID = 900;

/** A "tiled thumbnail" adaptation set (DASH-IF IOP 4.3, 6.2.6). */
export function formatTileSet(tracks: readonly CmafTrack[]): string[] {
  const plan = storyboardOf(tracks);
  const { columns, rows, tile } = plan;
  return [
    `    <AdaptationSet id="${SET_ID}" contentType="image" mimeType="image/jpeg">`,
    `      <SegmentTemplate timescale="1" duration="${spriteSeconds(plan)}" startNumber="1" ` +
      `media="${spriteName('$Number$')}"/>`,
    `      <Representation id="storyboard" bandwidth="${bandwidthOf(plan)}" ` +
      `width="${columns * tile.width}" height="${rows * tile.height}">`,
    '        <EssentialProperty schemeIdUri="http://dashif.org/guidelines/thumbnail_tile" ' +
      `value="${columns}x${rows}"/>`,
    '      </Representation>',
    '    </AdaptationSet>',
  ];
}

/** A line of the multivariant playlist ("HLS Image Media Playlists"); players that do not know it skip it. */
export function formatImageStream(tracks: readonly CmafTrack[], childFolder: string): string {
  const plan = storyboardOf(tracks);
  const attributes = [
    `BANDWIDTH=${bandwidthOf(plan)}`,
    `RESOLUTION=${plan.tile.width}x${plan.tile.height}`,
    'CODECS="jpeg"',
    `URI="${childFolder}/${IMAGE_PLAYLIST_NAME}"`,
  ];
  return `#EXT-X-IMAGE-STREAM-INF:${attributes.join(',')}\n`;
}

export function formatImagePlaylist(tracks: readonly CmafTrack[]): string {
  const plan = storyboardOf(tracks);
  const { columns, rows, tile, intervalSeconds } = plan;
  const size = `${tile.width}x${tile.height}`;
  const tiles = `RESOLUTION=${size},LAYOUT=${columns}x${rows},DURATION=${intervalSeconds}`;
  const sprites = Array.from({ length: plan.sprites }, (_, index) => [
    `#EXTINF:${Math.min(spriteSeconds(plan), plan.seconds - index * spriteSeconds(plan)).toFixed(3)},`,
    `#EXT-X-TILES:${tiles}`,
    spriteName(index + 1),
  ]);
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(Math.min(spriteSeconds(plan), plan.seconds))}`,
    '#EXT-X-PLAYLIST-TYPE:VOD',
    '#EXT-X-IMAGES-ONLY',
    ...sprites.flat(),
    '#EXT-X-ENDLIST',
    '',
  ].join('\n');
}
