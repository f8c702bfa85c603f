// A valid or damaged video with private metadata in its container.
import { readFile } from 'node:fs/promises';
import { makeClip } from './clips.ts';

/** Found nowhere but in the file's tags, so that a test can look for each where it must not be. */
const TAGS = {
  title: 'planted-wedding-title',
  comment: 'https://planted-user:planted-pass@planted-host.example/?key=planted-url-key',
  location: '+48.8584+002.2945/',
  description: 'first\nError opening input: planted-second-line\n  password: planted-password',
  artist: 'planted_AKIAIOSFODNN7EXAMPLE_artist',
} as const;
const HANDLER = 'planted-handler-name';

export const CANARIES: readonly string[] = [
  'planted',
  TAGS.location,
  '48.8584',
  'AKIAIOSFODNN7EXAMPLE',
  HANDLER,
];

export const makeTaggedClip = (): Promise<string> =>
  makeClip({
    seconds: 2,
    faststart: true,
    more: [
      '-movflags',
      '+faststart+use_metadata_tags',
      ...Object.entries(TAGS).flatMap(([name, value]) => ['-metadata', `${name}=${value}`]),
      '-metadata:s:v:0',
      `handler_name=${HANDLER}`,
    ],
  });

/**
 * Its tags and tables are whole, and its pictures and sound are noise: it is taken, and fails in the encoder.
 */
export async function damagedTaggedClip(): Promise<Buffer> {
  const bytes = await readFile(await makeTaggedClip());
  for (let at = bytes.indexOf('mdat') + 8; at < bytes.length; at += 3) bytes[at] = (at * 7919) & 0xff;
  return bytes;
}
