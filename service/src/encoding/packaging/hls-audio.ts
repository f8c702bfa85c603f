// Groups the audio renditions of HLS playlists: one group of stereo, and one of 5.1 if a track has it.
import type { AudioPurpose } from '../model/audio-track.ts';
import { type CmafTrack, type SoundTrack, isSound, playlistName } from '../model/cmaf-track.ts';

export type AudioGroup = { readonly id: string; readonly members: readonly SoundTrack[] };

/**
 * Stereo comes first, because every player plays it. A track without 5.1 is a member of both groups, which
 * must have the same members (RFC 8216, 4.3.4.1.1).
 */
export function audioGroups(tracks: readonly CmafTrack[]): readonly AudioGroup[] {
  const sounds = tracks.filter(isSound);
  const stereo = sounds.filter(({ audio }) => audio.channels === 2);
  if (stereo.length === 0) return [];
  const surround = sounds.filter(({ audio }) => audio.channels === 6);
  const surroundOf = ({ audio }: SoundTrack) =>
    surround.find((each) => each.audio.track.index === audio.track.index);
  return [
    { id: 'audio', members: stereo },
    ...(surround.length > 0
      ? [{ id: 'audio-51', members: stereo.map((track) => surroundOf(track) ?? track) }]
      : []),
  ];
}

export const audioMediaLines = ({ id, members }: AudioGroup, childFolder: string): readonly string[] =>
  members.map(
    (member) => `#EXT-X-MEDIA:${attributes(member, id)},URI="${childFolder}/${playlistName(member.id)}"`,
  );

function attributes({ audio: { track, channels } }: SoundTrack, group: string): string {
  const characteristics = CHARACTERISTICS[track.purpose];
  return [
    'TYPE=AUDIO',
    `GROUP-ID="${group}"`,
    `NAME="${track.name}"`,
    ...(track.language === null ? [] : [`LANGUAGE="${track.language}"`]),
    `DEFAULT=${track.isDefault ? 'YES' : 'NO'}`,
    // Players choose such tracks by language; nobody wants a commentary without asking for it.
    `AUTOSELECT=${track.isDefault || track.purpose !== 'commentary' ? 'YES' : 'NO'}`,
    ...(characteristics ? [`CHARACTERISTICS="${characteristics}"`] : []),
    `CHANNELS="${channels}"`,
  ].join(',');
}

const CHARACTERISTICS: Readonly<Partial<Record<AudioPurpose, string>>> = {
  description: 'public.accessibility.describes-video',
  clear_speech: 'public.accessibility.enhances-speech-intelligibility',
};
