// Groups the audio renditions of HLS playlists: one of stereo, and one for each form of 5.1 that a track has.
import type { AudioPurpose } from '../model/audio-track.ts';
import { type CmafTrack, type SoundTrack, isSound } from '../model/cmaf-track.ts';

export type AudioGroup = { readonly id: string; readonly members: readonly SoundTrack[] };

/**
 * Stereo comes first, because every player plays it. A track without 5.1 is a member of both groups, which
 * must have the same members (RFC 8216, 4.3.4.1.1).
 */
export function audioGroups(tracks: readonly CmafTrack[]): readonly AudioGroup[] {
  const sounds = tracks.filter(isSound);
  const stereo = sounds.filter(({ audio }) => audio.channels === 2);
  if (stereo.length === 0) return [];
  const encoded = sounds.filter(({ audio }) => audio.channels === 6 && !audio.isCopy);
  const copied = sounds.filter(({ audio }) => audio.isCopy);
  const groupOf = (id: string, surround: readonly SoundTrack[]): AudioGroup => ({
    id,
    members: stereo.map((track) => findSame(surround, track) ?? findSame(encoded, track) ?? track),
  });
  return [
    { id: 'audio', members: stereo },
    ...(encoded.length > 0 ? [groupOf('audio-51', encoded)] : []),
    ...[...Map.groupBy(copied, ({ codec }) => codec)].map(([codec, members]) =>
      groupOf(`audio-${codec}`, members),
    ),
  ];
}

const findSame = (sounds: readonly SoundTrack[], { audio }: SoundTrack): SoundTrack | undefined =>
  sounds.find((each) => each.audio.track.index === audio.track.index);

export const audioMediaLines = (
  { id, members }: AudioGroup,
  uriOf: (trackId: number) => string,
): readonly string[] =>
  members.map((member) => `#EXT-X-MEDIA:${attributes(member, id)},URI="${uriOf(member.id)}"`);

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
