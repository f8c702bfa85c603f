// Sounds for tests: made once by ffmpeg, kept in the temporary folder and found again by their options.
import { makeOnce } from './clips.ts';

const FORMATS = {
  mp3: ['-c:a', 'libmp3lame', '-f', 'mp3'],
  m4a: ['-c:a', 'aac', '-f', 'ipod'],
  aac: ['-c:a', 'aac', '-f', 'adts'],
  wav: ['-c:a', 'pcm_s16le', '-f', 'wav'],
  flac: ['-c:a', 'flac', '-f', 'flac'],
  ogg: ['-c:a', 'libopus', '-f', 'ogg'],
  weba: ['-c:a', 'libopus', '-f', 'webm'],
} as const;
export type SoundFormat = keyof typeof FORMATS;

type SoundOptions = {
  readonly seconds?: number;
  readonly container?: SoundFormat;
  /** A red square as the cover; mp3, m4a and flac only. */
  readonly hasCover?: boolean;
  /** Further inputs of ffmpeg with their output arguments. */
  readonly inputs?: readonly string[];
  /** Further output arguments of ffmpeg. */
  readonly more?: readonly string[];
};

/** Path of a tone of 440 Hz whose second half is half as loud. */
export async function makeSound(options: SoundOptions = {}): Promise<string> {
  const { seconds = 3, container = 'mp3', hasCover = false, inputs = [], more = [] } = options;
  const tone = `aevalsrc='sin(2*PI*440*t)*if(lt(t,${seconds / 2}),0.5,0.25)':sample_rate=44100`;
  const argv = [
    ...['-nostdin', '-hide_banner', '-y', '-loglevel', 'error', '-f', 'lavfi', '-i', tone],
    ...(hasCover ? ['-f', 'lavfi', '-i', 'color=red:size=300x300:duration=0.04'] : []),
    ...inputs,
    ...['-t', String(seconds), '-map', '0', ...FORMATS[container]],
    ...(hasCover ? ['-map', '1', '-c:v', 'mjpeg', '-disposition:v', 'attached_pic'] : []),
    ...more,
  ];
  return makeOnce({ argv, extension: container });
}
