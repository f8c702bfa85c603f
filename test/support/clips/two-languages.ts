// A clip with two audio tracks that a test can tell apart by ear.
import { makeClip } from './clips.ts';

/** In hertz. */
export const ENGLISH_TONE = 440;
export const GERMAN_TONE = 880;

/** German in stereo, and English in 5.1 as the default. */
export const makeTwoLanguageClip = (seconds: number): Promise<string> =>
  makeClip({
    seconds,
    container: 'mp4',
    more: [
      '-filter_complex',
      [
        `sine=${GERMAN_TONE}:sample_rate=48000,aformat=channel_layouts=stereo[german]`,
        `sine=${ENGLISH_TONE}:sample_rate=48000,asplit=6[a][b][c][d][e][f]`,
        '[a][b][c][d][e][f]join=inputs=6:channel_layout=5.1[english]',
      ].join(';'),
      ...['0:v', '[german]', '[english]'].flatMap((stream) => ['-map', stream]),
      ...['-metadata:s:a:0', 'language=ger', '-metadata:s:a:1', 'language=eng'],
      ...['-disposition:a:0', '0', '-disposition:a:1', 'default'],
    ],
  });
