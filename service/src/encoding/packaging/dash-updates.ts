// What a DASH manifest says about its next version, while segments or renditions follow.
import { type CmafTrack, isVideo, trackSeconds } from '../model/cmaf-track.ts';
import type { Growth } from './run-index.ts';

/** Digits below a millisecond that count before rounding up; further digits are floating-point noise. */
const ROUNDING_DIGITS = 6;

/** Rounds up to milliseconds: dash.js may stop early when the presentation is shorter than its media. */
export const seconds = (value: number): string =>
  (Math.ceil(Number((value * 1000).toFixed(ROUNDING_DIGITS))) / 1000).toFixed(3);

/** `location`: of the next version, relative to the manifest. */
export type UpdatedManifest = Growth & { readonly location: string };

/** Parts of a manifest, in the order of its elements. */
type Updates = {
  readonly attributes: string;
  readonly beforePeriod?: readonly string[];
  readonly inPeriod?: readonly string[];
  readonly afterPeriod?: readonly string[];
};

/** Players read the manifest again while segments or renditions follow. */
export function describeUpdates(tracks: readonly CmafTrack[], growth: UpdatedManifest | undefined): Updates {
  if (!growth) return { attributes: staticAttributes(tracks) };
  const location = `  <Location>${growth.location}</Location>`;
  if (growth.isComplete)
    return {
      attributes: `${staticAttributes(tracks)} ${UPDATED}`,
      beforePeriod: [location],
      inPeriod: updateEvents(growth),
    };
  return {
    attributes: `${growingAttributes(tracks, growth)} ${UPDATED}`,
    beforePeriod: [location, ...startDescriptions(growth)],
    afterPeriod: [`  ${clockOf(growth)}`],
  };
}

// The duration of the video: audio ends up to two packets later, which players cut off.
function staticAttributes(tracks: readonly CmafTrack[]): string {
  const videos = tracks.filter(isVideo);
  const duration = Math.max(...(videos.length > 0 ? videos : tracks).map(trackSeconds));
  return `type="static" mediaPresentationDuration="PT${seconds(duration)}S"`;
}

const UPDATED = 'minimumUpdatePeriod="PT2S"';

/** What a slow device takes from reading the manifest to its first picture. */
const START_SECONDS = 2;

/**
 * Encoding is faster than playback, so the whole video is declared available before the run has started. With
 * a duration, players show the video as one that is still recorded, not as an endless stream. They start
 * behind the last segment by the delay, which is at the beginning. A longer delay stalls Shaka Player, which
 * never plays beyond the end of the video minus the delay.
 */
function growingAttributes(
  tracks: readonly CmafTrack[],
  { startedAt, publishedAt, durationSeconds }: Growth,
): string {
  const availableSince = new Date(Date.parse(startedAt) - Math.ceil(durationSeconds + LEAD_SECONDS) * 1000);
  const delay = Math.max(...tracks.map(trackSeconds)) + START_SECONDS;
  return (
    `type="dynamic" mediaPresentationDuration="PT${seconds(durationSeconds)}S" ` +
    `availabilityStartTime="${availableSince.toISOString()}" publishTime="${publishedAt}" ` +
    `suggestedPresentationDelay="PT${seconds(delay)}S"`
  );
}

/**
 * dash.js applies the delay of the first version to a later one, which would be too short. It prefers the
 * latency of the last description. Shaka Player reads the first one; for a latency it would change its speed.
 */
const startDescriptions = ({ durationSeconds }: Growth): readonly string[] => [
  '  <ServiceDescription id="0"/>',
  '  <ServiceDescription id="1">',
  `    <Latency target="${Math.ceil(durationSeconds + LEAD_SECONDS) * 1000}"/>`,
  '  </ServiceDescription>',
];

/** Seconds of the video between two of them; a long video has no more than so many. */
const UPDATE_EVENTS = { seconds: 5, count: 200 } as const;

/**
 * dash.js that has read a dynamic manifest reads the static one again at these events alone. They say that
 * the manifest has expired (5.10.4).
 */
function updateEvents({ durationSeconds }: Growth): readonly string[] {
  const step = Math.max(UPDATE_EVENTS.seconds, Math.ceil(durationSeconds / UPDATE_EVENTS.count));
  const times = Array.from({ length: Math.ceil(durationSeconds / step) }, (_, at) => at * step);
  return [
    '    <EventStream schemeIdUri="urn:mpeg:dash:event:2012" value="1" timescale="1">',
    ...times.map((time) => `      <Event presentationTime="${time}" duration="1" id="${time}"/>`),
    '    </EventStream>',
  ];
}

/** Without a time, dash.js asks a server on the internet for it. An early time is as good as an exact one. */
const clockOf = ({ startedAt }: Growth): string =>
  `<UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="${startedAt}"/>`;

/** Tolerates clocks of viewers that are slow. */
const LEAD_SECONDS = 3600;
