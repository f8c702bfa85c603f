// Follows a video that gains renditions while it plays, because its encode has ended meanwhile.
import type { LevelsUpdatedData, ManifestParsedData } from 'hls.js';

type HlsModule = typeof import('hls-video-element');
type Hls = InstanceType<HlsModule['Hls']>;

type Rendition = { id: string | undefined };
type VideoTrack = {
  addRendition(url: string, width: number, height: number, codec?: string, bitrate?: number): Rendition;
};
export type RenditionMenu = { readonly videoTracks: { readonly [index: number]: VideoTrack | undefined } };

/** What is buffered of the first renditions is replaced from the next segment on, and the menu lists all. */
export function followLaterRenditions({ Events }: HlsModule['Hls'], hls: Hls, menu: RenditionMenu): void {
  let count = 0;
  hls.on(Events.MANIFEST_PARSED, (_event: string, { levels }: ManifestParsedData) => {
    count = levels.length;
  });
  hls.on(Events.LEVELS_UPDATED, (_event: string, { levels }: LevelsUpdatedData) => {
    const hasGained = levels.length > count;
    count = levels.length;
    if (!hasGained) return;
    // The element removes the old renditions in the same event.
    queueMicrotask(() => listRenditions(menu, levels));
    if (hls.autoLevelEnabled) hls.nextLevel = AUTOMATIC;
  });
}

const AUTOMATIC = -1;

function listRenditions({ videoTracks }: RenditionMenu, levels: LevelsUpdatedData['levels']): void {
  const track = videoTracks[0];
  if (!track) return;
  for (const [index, { url, width, height, videoCodec, bitrate }] of levels.entries()) {
    const rendition = track.addRendition(url[0] ?? '', width, height, videoCodec, bitrate);
    rendition.id = `${index}`;
  }
}
