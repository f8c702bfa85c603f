// Formats the DASH manifest (ISO/IEC 23009-1, live profile) for the same tracks as HLS.
import { formatCaptionSets } from '../../captions/manifest-captions.ts';
import { SWITCHING_SETS, type SwitchingSet } from '../model/codecs.ts';
import {
  type CmafSegment,
  type CmafTrack,
  type SoundTrack,
  type VideoTrack,
  isSound,
  isVideo,
  peakBitrate,
  trackSeconds,
  videosIn,
} from '../model/cmaf-track.ts';
import { describeAudioSet } from './dash-audio.ts';
import type { PackagedTracks } from './hls-playlist.ts';
import type { Growth } from './run-index.ts';
import type { Colour } from '../model/mp4-boxes.ts';
import type { Rational } from '../model/source.ts';

/** Digits below a millisecond that count before rounding up; further digits are floating-point noise. */
const ROUNDING_DIGITS = 6;

/** A manifest to which segments are added. `location`: of the next version, relative to the manifest. */
type GrowingManifest = Growth & { readonly location: string };

/** `BaseURL` is the folder of the segments, relative to the manifest. */
export function formatDashManifest(
  { tracks, frameRate, childFolder, captions }: PackagedTracks,
  growth?: GrowingManifest,
): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" ' +
      `${growth ? growingAttributes(growth) : staticAttributes(tracks)} ` +
      `maxSegmentDuration="PT${seconds(longestSegment(tracks))}S" minBufferTime="PT4S">`,
    ...(growth ? [`  <Location>${growth.location}</Location>`] : []),
    `  <BaseURL>${childFolder}/</BaseURL>`,
    '  <Period id="0" start="PT0S">',
    ...adaptationSets(tracks).flatMap((set, id) => adaptationSet(set, id, frameRate)),
    ...formatCaptionSets(captions),
    '  </Period>',
    ...(growth ? [`  ${clockOf(growth)}`] : []),
    '</MPD>',
    '',
  ].join('\n');
}

// The duration of the video: audio ends up to two packets later, which players cut off.
function staticAttributes(tracks: readonly CmafTrack[]): string {
  const duration = Math.max(...tracks.filter(isVideo).map(trackSeconds));
  return `type="static" mediaPresentationDuration="PT${seconds(duration)}S"`;
}

const UPDATE_SECONDS = 2;

/**
 * Encoding is faster than playback, so the whole video is declared available before the run has started.
 * Players start as far behind the last segment as possible, which is the beginning. With a duration they show
 * the video as one that is still recorded, not as an endless stream.
 */
function growingAttributes({ startedAt, publishedAt, durationSeconds }: Growth): string {
  const availableSince = new Date(Date.parse(startedAt) - Math.ceil(durationSeconds + LEAD_SECONDS) * 1000);
  return (
    `type="dynamic" mediaPresentationDuration="PT${seconds(durationSeconds)}S" ` +
    `availabilityStartTime="${availableSince.toISOString()}" ` +
    `publishTime="${publishedAt}" minimumUpdatePeriod="PT${UPDATE_SECONDS}S" ` +
    `suggestedPresentationDelay="PT${seconds(durationSeconds + LEAD_SECONDS)}S"`
  );
}

/** Without a time, dash.js asks a server on the internet for it. An early time is as good as an exact one. */
const clockOf = ({ startedAt }: Growth): string =>
  `<UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="${startedAt}"/>`;

/** Tolerates clocks of viewers that are slow. */
const LEAD_SECONDS = 3600;

type AdaptationSet = {
  readonly kind: 'video' | 'audio';
  readonly attributes: string;
  readonly descriptors: readonly string[];
  readonly tracks: readonly CmafTrack[];
};

const videoSet = (tracks: readonly VideoTrack[], { range }: SwitchingSet): AdaptationSet => ({
  kind: 'video',
  attributes: range === 'sdr' ? '' : LAST_CHOICE,
  descriptors: range === 'sdr' ? [] : colourDescriptors(tracks[0]?.colour),
  tracks,
});

/** The default is 1. dash.js would otherwise choose HDR on every display, because it needs fewer bits. */
const LAST_CHOICE = 'selectionPriority="0" ';

/** Players that do not show these colours ignore the whole set (ETSI TS 103 285, 5.2). */
const colourDescriptors = (colour: Colour | undefined): readonly string[] =>
  colour
    ? [
        essentialProperty('ColourPrimaries', colour.primaries),
        essentialProperty('TransferCharacteristics', colour.transfer),
        essentialProperty('MatrixCoefficients', colour.matrix),
      ]
    : [];

const essentialProperty = (name: string, value: number): string =>
  `<EssentialProperty schemeIdUri="urn:mpeg:mpegB:cicp:${name}" value="${value}"/>`;

const audioSet = (track: SoundTrack): AdaptationSet => ({
  kind: 'audio',
  ...describeAudioSet(track),
  tracks: [track],
});

/** Video in H.264, audio, then every further set, because players switch only inside a set. */
function adaptationSets(tracks: readonly CmafTrack[]): readonly AdaptationSet[] {
  const [main, ...extra] = SWITCHING_SETS.map((set) => videoSet(videosIn(tracks, set), set)) as [
    AdaptationSet,
    ...AdaptationSet[],
  ];
  const sets = [main, ...tracks.filter(isSound).map(audioSet), ...extra];
  return sets.filter((set) => set.tracks.length > 0);
}

function adaptationSet(
  { kind, attributes, descriptors, tracks }: AdaptationSet,
  id: number,
  frameRate: Rational,
): string[] {
  return [
    `    <AdaptationSet id="${id}" contentType="${kind}" mimeType="${kind}/mp4" ${attributes}` +
      'segmentAlignment="true" startWithSAP="1">',
    ...descriptors.map((descriptor) => `      ${descriptor}`),
    ...tracks.flatMap((track) => representation(track, frameRate)),
    '    </AdaptationSet>',
  ];
}

function representation(track: CmafTrack, frameRate: Rational): string[] {
  return [
    `      <Representation id="${track.id}" bandwidth="${peakBitrate(track)}" codecs="${track.codec}" ` +
      `${kindAttributes(track, frameRate)}>`,
    ...(track.audio
      ? [
          '        <AudioChannelConfiguration ' +
            'schemeIdUri="urn:mpeg:dash:23003:3:audio_channel_configuration:2011" ' +
            `value="${track.audio.channels}"/>`,
        ]
      : []),
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
  tracks
    .flatMap((track) => track.segments.map(({ duration }) => duration / track.timescale))
    .reduce((longest, duration) => Math.max(longest, duration), 0);

/** Rounds up to milliseconds: dash.js may stop early when the presentation is shorter than its media. */
const seconds = (value: number): string =>
  (Math.ceil(Number((value * 1000).toFixed(ROUNDING_DIGITS))) / 1000).toFixed(3);
