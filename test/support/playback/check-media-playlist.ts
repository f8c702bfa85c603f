// Lists the violations of RFC 8216bis in media playlists, and measures their bit rates.

/** `growing`: further segments follow. */
export type TrackState = 'growing' | 'complete';

type Segment = { readonly name: string; readonly seconds: number };
export type Rates = { readonly peak: number; readonly average: number };

/** Of a multivariant or a media playlist. */
export function checkHead(name: string, text: string): string[] {
  const versions = text.match(/^#EXT-X-VERSION:\d+$/gm) ?? [];
  return [
    ...(text.startsWith('#EXTM3U\n') ? [] : [`${name}: does not start with #EXTM3U`]),
    ...(versions.length === 1 ? [] : [`${name}: ${versions.length} EXT-X-VERSION tags`]),
  ];
}

/** `captions`: WebVTT, which is complete although the video may still grow. */
type MediaPlaylist = {
  readonly name: string;
  readonly text: string;
  readonly kind: 'tracks' | 'captions';
};

export function checkMediaPlaylist(
  { name, text, kind }: MediaPlaylist,
  sizes: ReadonlyMap<string, number>,
  state: TrackState,
): string[] {
  const segments = segmentsOf(text);
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]);
  const map = /^#EXT-X-MAP:URI="([^"]+)"$/m.exec(text)?.[1];
  const files = [...(map === undefined ? [] : [map]), ...segments.map((segment) => segment.name)];
  return [
    ...checkHead(name, text),
    ...(kind === 'captions' ? [] : checkIndependence(name, text)),
    ...(segments.length === 0 ? [`${name}: no segments`] : []),
    ...(map === undefined && kind === 'tracks' ? [`${name}: no EXT-X-MAP`] : []),
    ...(map !== undefined && kind === 'captions' ? [`${name}: WebVTT has no EXT-X-MAP`] : []),
    ...(kind === 'captions' ? checkEnd(name, text, 'complete') : checkEnd(name, text, state)),
    ...segments
      .filter(({ seconds }) => !(Math.round(seconds) <= target))
      .map((segment) => `${name}: ${segment.name} is longer than the target duration`),
    ...files.filter((file) => !sizes.has(file)).map((file) => `${name}: ${file} does not exist`),
  ];
}

export const checkIndependence = (name: string, text: string): string[] =>
  /^#EXT-X-INDEPENDENT-SEGMENTS$/m.test(text) ? [] : [`${name}: no EXT-X-INDEPENDENT-SEGMENTS`];

/** Section 4.4.3.5: segments are added to EVENT alone; 4.4.3.4: the end is stated once it is known. */
function checkEnd(name: string, text: string, state: TrackState): string[] {
  const type = state === 'growing' ? 'EVENT' : 'VOD';
  const isTyped = RegExp(`^#EXT-X-PLAYLIST-TYPE:${type}$`, 'm').test(text);
  const hasEnd = text.includes('#EXT-X-ENDLIST');
  const isEnded = text.trimEnd().endsWith('#EXT-X-ENDLIST');
  return [
    ...(isTyped ? [] : [`${name}: not ${type}`]),
    ...(state === 'growing' && hasEnd ? [`${name}: EXT-X-ENDLIST although it grows`] : []),
    ...(state === 'complete' && !isEnded ? [`${name}: no EXT-X-ENDLIST`] : []),
  ];
}

export function ratesOf(name: string, text: string, sizes: ReadonlyMap<string, number>): Rates {
  const segments = segmentsOf(text).map((segment) => ({
    ...segment,
    bits: 8 * (sizes.get(segment.name) ?? 0),
  }));
  const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const seconds = sum(segments.map((segment) => segment.seconds));
  if (seconds === 0) throw new Error(`${name} has no duration`);
  const average = sum(segments.map(({ bits }) => bits)) / seconds;
  const longEnough = segments.filter((segment) => segment.seconds >= target / 2);
  return { average, peak: Math.max(average, ...longEnough.map((segment) => segment.bits / segment.seconds)) };
}

export const segmentsOf = (text: string): Segment[] =>
  [...text.matchAll(/^#EXTINF:([\d.]+),.*\n(?:#.*\n)*(.+)$/gm)].map(([, seconds, name = '']) => ({
    name,
    seconds: Number(seconds),
  }));

/** Section 6.2.4: only those of subtitles may differ. */
export function checkTargets(tracks: readonly (readonly [name: string, text: string])[]): string[] {
  const targets = new Set(tracks.map(([, text]) => /^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]));
  return targets.size > 1 ? [`playlists: target durations are ${[...targets].join(', ')}`] : [];
}
