// Chooses the tracks that the MP4 and M4A files of a video are made of (contract B5).
import {
  averageBitrate,
  type CmafTrack,
  isH264,
  isVideo,
  type SoundTrack,
  type VideoTrack,
} from '../model/cmaf-track.ts';
import { bySize } from '../model/track-choice.ts';
import { audioGroups } from '../packaging/hls-audio.ts';
import { MAX_MP4_BYTES } from '../plan/arguments/extra-arguments.ts';

const MAX_SHORT_SIDE = 1080;

/** The bytes of a file with these tracks; the container adds little. */
export const expectedBytes = (tracks: readonly CmafTrack[], seconds: number): number =>
  tracks.reduce((total, track) => total + (averageBitrate(track) * seconds) / 8, 0);

/** The largest H.264 rendition that simple players can play, with its sound; empty if all are too large. */
export function chooseMp4Tracks(tracks: readonly CmafTrack[], seconds: number): readonly CmafTrack[] {
  const audio = chooseAudio(tracks);
  const withSound = (video: VideoTrack) => (audio ? [video, audio] : [video]);
  const video = bySize(tracks.filter(isVideo)).findLast(
    (each) =>
      isH264(each) &&
      Math.min(each.size.width, each.size.height) <= MAX_SHORT_SIDE &&
      expectedBytes(withSound(each), seconds) <= MAX_MP4_BYTES,
  );
  return video ? withSound(video) : [];
}

/** The default track in stereo AAC; undefined for a video without sound. */
export function chooseAudio(tracks: readonly CmafTrack[]): SoundTrack | undefined {
  const members = audioGroups(tracks)[0]?.members ?? [];
  return members.find(({ audio }) => audio.track.isDefault) ?? members[0];
}
