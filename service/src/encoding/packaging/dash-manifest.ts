// Formats the DASH manifest (ISO/IEC 23009-1, live profile) for the same tracks as HLS.
import { formatCaptionSets } from '../../captions/manifest-captions.ts';
import { SWITCHING_SETS, type SwitchingSet } from '../model/codecs.ts';
import {
  type CmafSegment,
  type CmafTrack,
  type SoundTrack,
  type VideoTrack,
  isSound,
  peakBitrate,
  videosIn,
} from '../model/cmaf-track.ts';
import { describeAudioSet } from './dash-audio.ts';
import { formatTileSet } from './image-tracks.ts';
import { describeUpdates, seconds, type UpdatedManifest } from './dash-updates.ts';
import type { PackagedTracks } from './hls-playlist.ts';
import type { Colour } from '../model/mp4-boxes.ts';
import type { Rational } from '../model/source.ts';

/** `BaseURL` is the folder of the segments, relative to the manifest. */
export function formatDashManifest(
  { tracks, frameRate, childFolder, captions, hasStoryboard = false }: PackagedTracks,
  growth?: UpdatedManifest,
): string {
  const updates = describeUpdates(tracks, growth);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" ' +
      `${updates.attributes} ` +
      `maxSegmentDuration="PT${seconds(longestSegment(tracks))}S" minBufferTime="PT4S">`,
    `  <BaseURL>${childFolder}/</BaseURL>`,
    ...(updates.beforePeriod ?? []),
    '  <Period id="0" start="PT0S">',
    ...(updates.inPeriod ?? []),
    ...adaptationSets(tracks).flatMap((set, id) => adaptationSet(set, id, frameRate)),
    ...(hasStoryboard ? formatTileSet(tracks) : []),
    ...formatCaptionSets(captions),
    '  </Period>',
    ...(updates.afterPeriod ?? []),
    '</MPD>',
    '',
  ].join('\n');
}

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
