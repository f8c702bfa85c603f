// Formats the DASH manifest (ISO/IEC 23009-1, live profile, static) for the same tracks as HLS.
import { CODECS } from '../plan/codecs.ts';
import {
  type CmafSegment,
  type CmafTrack,
  type VideoTrack,
  codecOf,
  isVideo,
  peakBitrate,
  trackSeconds,
} from './cmaf-track.ts';
import type { PackagedTracks } from './hls-playlist.ts';
import type { Rational } from '../plan/source-facts.ts';

/** Digits below a millisecond that count before rounding up; further digits are floating-point noise. */
const ROUNDING_DIGITS = 6;

/** `BaseURL` is the folder of the segments, relative to the manifest. */
export function formatDashManifest({ tracks, frameRate, childFolder }: PackagedTracks): string {
  // Uses the duration of the video: audio ends up to two packets later, which players cut off.
  const duration = Math.max(...tracks.filter(isVideo).map(trackSeconds));
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" ' +
      `type="static" mediaPresentationDuration="PT${seconds(duration)}S" ` +
      `maxSegmentDuration="PT${seconds(longestSegment(tracks))}S" minBufferTime="PT4S">`,
    `  <BaseURL>${childFolder}/</BaseURL>`,
    '  <Period id="0" start="PT0S">',
    ...adaptationSets(tracks).flatMap((set) => adaptationSet(set, frameRate)),
    '  </Period>',
    '</MPD>',
    '',
  ].join('\n');
}

type AdaptationSet = {
  readonly id: number;
  readonly kind: 'video' | 'audio';
  readonly tracks: readonly CmafTrack[];
};

/** Video in H.264, audio, then a set for each further codec, because players switch only inside a set. */
function adaptationSets(tracks: readonly CmafTrack[]): readonly AdaptationSet[] {
  const [main, ...extra] = CODECS.map((codec) =>
    tracks.filter(isVideo).filter((track) => codecOf(track) === codec),
  ) as [VideoTrack[], ...VideoTrack[][]];
  const audio = tracks.filter((track) => !isVideo(track));
  const sets: AdaptationSet[] = [
    { id: 0, kind: 'video', tracks: main },
    { id: 1, kind: 'audio', tracks: audio },
    ...extra.map((each, index): AdaptationSet => ({ id: 2 + index, kind: 'video', tracks: each })),
  ];
  return sets.filter((set) => set.tracks.length > 0);
}

function adaptationSet({ id, kind, tracks }: AdaptationSet, frameRate: Rational): string[] {
  return [
    `    <AdaptationSet id="${id}" contentType="${kind}" mimeType="${kind}/mp4" ` +
      'segmentAlignment="true" startWithSAP="1">',
    ...tracks.flatMap((track) => representation(track, frameRate)),
    '    </AdaptationSet>',
  ];
}

function representation(track: CmafTrack, frameRate: Rational): string[] {
  return [
    `      <Representation id="${track.id}" bandwidth="${peakBitrate(track)}" codecs="${track.codec}" ` +
      `${kindAttributes(track, frameRate)}>`,
    ...(isVideo(track)
      ? []
      : [
          '        <AudioChannelConfiguration ' +
            'schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" value="2"/>',
        ]),
    `        <SegmentTemplate timescale="${track.timescale}" startNumber="1" ` +
      'initialization="r$RepresentationID$-init.mp4" media="r$RepresentationID$-$Number%05d$.m4s">',
    '          <SegmentTimeline>',
    ...timeline(track.segments),
    '          </SegmentTimeline>',
    '        </SegmentTemplate>',
    '      </Representation>',
  ];
}

function kindAttributes({ size, timescale }: CmafTrack, { numerator, denominator }: Rational): string {
  if (!size) return `audioSamplingRate="${timescale}"`;
  return `width="${size.width}" height="${size.height}" frameRate="${numerator}/${denominator}" sar="1:1"`;
}

/** Consecutive segments of equal duration share an element, which keeps manifests of long videos short. */
function timeline(segments: readonly CmafSegment[]): string[] {
  const runs: { start: number; duration: number; more: number }[] = [];
  for (const { start, duration } of segments) {
    const last = runs.at(-1);
    if (last && last.duration === duration && last.start + duration * (last.more + 1) === start)
      last.more += 1;
    else runs.push({ start, duration, more: 0 });
  }
  return runs.map(
    ({ start, duration, more }) =>
      `            <S t="${start}" d="${duration}"${more > 0 ? ` r="${more}"` : ''}/>`,
  );
}

const longestSegment = (tracks: readonly CmafTrack[]): number =>
  Math.max(...tracks.flatMap((track) => track.segments.map(({ duration }) => duration / track.timescale)));

/** Rounds up to milliseconds: dash.js may stop early when the presentation is shorter than its media. */
const seconds = (value: number): string =>
  (Math.ceil(Number((value * 1000).toFixed(ROUNDING_DIGITS))) / 1000).toFixed(3);
