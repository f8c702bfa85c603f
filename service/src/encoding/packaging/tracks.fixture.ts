// Tracks for tests of manifests, and of files that are made of renditions.
import { audioRenditions, toAudioTracks } from '../plan/source/audio-tracks.ts';
import { audioStream } from '../model/source.fixture.ts';
import type { SourceStream } from '../model/source.ts';
import { type SoundTrack, segmentName, type VideoTrack } from '../model/cmaf-track.ts';

const BYTES = { 2: 64_000, 6: 192_000 } as const;

/** The encoded tracks of these source streams, numbered from `firstId`; segments of four seconds. */
export function soundTracks(
  firstId: number,
  streams: readonly Partial<SourceStream>[],
): readonly SoundTrack[] {
  const source = streams.map((more, position) => audioStream(1 + position, more));
  return audioRenditions(toAudioTracks(source)).map((audio, position) => ({
    id: firstId + position,
    timescale: 48_000,
    codec: 'mp4a.40.2',
    size: null,
    segments: [192_000, 192_000, 96_000].map((duration, index) => ({
      name: segmentName(firstId + position, index + 1),
      start: index * 192_000,
      duration,
      bytes: (BYTES[audio.channels] * duration) / 192_000,
    })),
    audio,
  }));
}

type Picture = { readonly width: number; readonly height: number; readonly seconds: readonly number[] };

/** An H.264 track with one segment for each of the durations, of 100 kB per second. */
export const pictureTrack = (id: number, { seconds, ...size }: Picture): VideoTrack => {
  let start = 0;
  const segments = seconds.map((each, index) => {
    const segment = {
      name: segmentName(id, index + 1),
      start,
      duration: each * 1000,
      bytes: each * 100_000,
    };
    start += segment.duration;
    return segment;
  });
  return { id, timescale: 1000, codec: 'avc1.4d401e', size, segments };
};
