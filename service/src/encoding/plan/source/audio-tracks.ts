// Chooses the audio renditions of a video, and names their tracks for players.
import type { AudioPurpose, AudioTrack, AudioRendition, PassthroughCodec } from '../../model/audio-track.ts';
import { toPlainText } from '../../../assets/text-limits.ts';
import { toLanguage } from '../../../captions/caption-request.ts';
import type { SourceStream } from '../../model/source.ts';

/** Each track is encoded during the whole run, and players list all of them. */
export const MAX_AUDIO_TRACKS = 8;

/** Bit rates by number of channels. */
export const AUDIO_KILOBITS = { 2: 128, 6: 384 } as const;

export const SURROUND_CHANNELS = 6;
/** ffmpeg cannot mix every larger layout down to 5.1. */
const MAX_SURROUND_CHANNELS = 8;
const MAX_NAME = 64;

/** The stream that the source marks as its default comes first; otherwise the order of the source. */
export const byDefault = (streams: readonly SourceStream[]): readonly SourceStream[] =>
  streams.toSorted((a, b) => Number(isMarked(b, 'default')) - Number(isMarked(a, 'default')));

export function toAudioTracks(streams: readonly SourceStream[]): readonly AudioTrack[] {
  const names: string[] = [];
  return streams.map((stream, position) => {
    const language = parseLanguage(stream.language);
    const name = uniqueName(nameOf(stream, language) ?? numbered('Audio', position), names);
    names.push(name);
    return {
      index: stream.index,
      codec: stream.codec,
      channels: stream.channels ?? null,
      language,
      name,
      isDefault: position === 0,
      purpose: purposeOf(stream),
    };
  });
}

/** In the order of the encoded files: all stereo renditions first. */
export const audioRenditions = (tracks: readonly AudioTrack[]): readonly AudioRendition[] => [
  ...tracks.map((track) => ({ track, channels: 2 }) as const),
  ...tracks.filter(isSurround).map((track) => ({ track, channels: 6 }) as const),
];

/** Those in 5.1 that players also get as they are. */
export const copiedTracks = (
  tracks: readonly AudioTrack[],
  codecs: readonly PassthroughCodec[],
): readonly AudioTrack[] =>
  tracks.filter(
    ({ channels, codec }) => channels === SURROUND_CHANNELS && codecs.some((each) => each === codec),
  );

export const isSurround = ({ channels }: AudioTrack): boolean =>
  channels !== null && channels >= SURROUND_CHANNELS && channels <= MAX_SURROUND_CHANNELS;

const isMarked = ({ dispositions = [] }: SourceStream, name: string): boolean => dispositions.includes(name);

function purposeOf(stream: SourceStream): AudioPurpose {
  if (isMarked(stream, 'comment')) return 'commentary';
  if (isMarked(stream, 'visual impaired') || isMarked(stream, 'descriptions')) return 'description';
  return isMarked(stream, 'hearing impaired') ? 'clear_speech' : 'main';
}

/** `ger` and `deu` become `de`. Undefined and invalid languages are null. */
function parseLanguage(code = 'und'): string | null {
  const language = toLanguage(code);
  return language === undefined || /^(?:und|mis)\b/.test(language) ? null : language;
}

const ENGLISH = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** A long title is no name, and a quotation mark would end the name in an HLS playlist. */
function nameOf({ title }: SourceStream, language: string | null): string | undefined {
  const text = toPlainText(title)?.replaceAll('"', "'");
  if (text !== undefined && text.length <= MAX_NAME) return text;
  return language === null ? undefined : ENGLISH.of(language);
}

function uniqueName(name: string, taken: readonly string[]): string {
  let position = 0;
  while (taken.includes(numbered(name, position))) position += 1;
  return numbered(name, position);
}

const numbered = (name: string, position: number): string =>
  position === 0 ? name : `${name} ${position + 1}`;
