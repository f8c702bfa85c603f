// What a run has encoded, as data. It is stored as `index.json` beside the segments, and all manifests are
// rendered from it.
import type { AwaitedTrack } from './awaited-tracks.ts';
import { type CmafSegment, type CmafTrack, segmentName, videosIn } from '../model/cmaf-track.ts';
import { MAIN_SET } from '../model/codecs.ts';
import type { Rational } from '../model/source.ts';

export const INDEX_NAME = 'index.json';

export type RunIndex = {
  readonly frameRate: Rational;
  /** In the order of manifests, with all segments since the first one. */
  readonly tracks: readonly CmafTrack[];
  /** Ids of the tracks that players get before the run has ended. */
  readonly early: readonly number[];
  /** Id of an early track that an encode of its size replaces: only players that have started read it. */
  readonly replaced?: number | undefined;
  /** When the early tracks had all their segments, as ISO 8601; undefined while segments follow. */
  readonly completedAt?: string | undefined;
  /** Set while segments or renditions follow. */
  readonly growth?: Growth | undefined;
};

/** Times are ISO 8601. */
export type Growth = {
  /** The tracks have all their segments; renditions follow. */
  readonly isComplete: boolean;
  /** Renditions that early players get when the run ends; largest first. */
  readonly awaited: readonly AwaitedTrack[];
  /** The same in all indexes of a run, so that players keep their clock. */
  readonly startedAt: string;
  /** When this index is published: players ignore manifests that are not newer. */
  readonly publishedAt: string;
  /** The duration of the whole video. */
  readonly durationSeconds: number;
};

export const listedTracks = ({ tracks, replaced }: RunIndex): readonly CmafTrack[] =>
  tracks.filter(({ id }) => id !== replaced);

/** Those that early players know, and once the run has ended the others in H.264. */
export function earlyTracks({ tracks, early, growth }: RunIndex): readonly CmafTrack[] {
  const main = growth ? [] : videosIn(tracks, MAIN_SET);
  return tracks.filter((track) => early.includes(track.id) || main.some(({ id }) => id === track.id));
}

/** Times in ticks of the track; the last two numbers are the bytes of the key frame. */
type StoredSegment =
  | readonly [start: number, duration: number, bytes: number]
  | readonly [start: number, duration: number, bytes: number, keyStart: number, keyLength: number];

type StoredIndex = Omit<RunIndex, 'tracks'> & {
  readonly tracks: readonly (Omit<CmafTrack, 'segments'> & { readonly segments: readonly StoredSegment[] })[];
};

/** Long videos have thousands of segments, so that each is a list of numbers. Its place is its name. */
export function formatIndex(index: RunIndex): string {
  const tracks = index.tracks.map((track) => ({ ...track, segments: track.segments.map(toStored) }));
  return JSON.stringify({ ...index, tracks } satisfies StoredIndex);
}

/** Only for text of `formatIndex`. */
export function parseIndex(text: string): RunIndex {
  const index = JSON.parse(text) as StoredIndex;
  const tracks = index.tracks.map((track) => ({
    ...track,
    segments: track.segments.map((segment, place) => fromStored(segment, segmentName(track.id, place + 1))),
  }));
  return { ...index, tracks };
}

const toStored = ({ start, duration, bytes, keyFrame }: CmafSegment): StoredSegment =>
  keyFrame ? [start, duration, bytes, keyFrame.start, keyFrame.length] : [start, duration, bytes];

const fromStored = ([start, duration, bytes, ...key]: StoredSegment, name: string): CmafSegment =>
  key.length === 2
    ? { name, start, duration, bytes, keyFrame: { start: key[0], length: key[1] } }
    : { name, start, duration, bytes };
