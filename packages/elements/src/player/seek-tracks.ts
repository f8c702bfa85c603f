// The tracks whose pictures and names media-chrome shows over the seek bar.
import type { PlayerSource } from './source.ts';

export function addSeekTracks(
  media: HTMLVideoElement,
  { storyboard, chapters }: Pick<PlayerSource, 'storyboard' | 'chapters'>,
): void {
  if (storyboard !== undefined)
    media.append(createTrack(media, { kind: 'metadata', label: 'thumbnails', src: storyboard }));
  if (chapters !== undefined)
    media.append(createTrack(media, { kind: 'chapters', label: 'Chapters', src: chapters }));
}

type TrackSource = Pick<HTMLTrackElement, 'kind' | 'label' | 'src'>;

function createTrack(media: HTMLVideoElement, source: TrackSource): HTMLTrackElement {
  // Browsers load tracks of other origins only with CORS.
  if (new URL(source.src, document.baseURI).origin !== location.origin)
    media.setAttribute('crossorigin', 'anonymous');
  return Object.assign(document.createElement('track'), { ...source, default: true });
}
