// Tests what the probe finds in audio files, and that damaged ones are refused or left to the encoder.
import { readFile } from 'node:fs/promises';
import type { AudioContainer } from '@mediary/media-rules/video-facts';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../../test/support/clips/clips.ts';
import { openTestDecoders } from '../../../test/support/clips/decoders.ts';
import { makeSound, type SoundFormat } from '../../../test/support/clips/sounds.ts';

const { probe, close } = openTestDecoders();
afterAll(close);

const probeBytes = (bytes: Uint8Array, container: AudioContainer) =>
  probe.probeAudio(
    { sizeBytes: bytes.length, read: async (start, end) => bytes.subarray(start, end) },
    container,
  );

const FORMATS: readonly (readonly [SoundFormat, AudioContainer])[] = [
  ['mp3', 'mp3'],
  ['m4a', 'mov'],
  ['aac', 'aac'],
  ['wav', 'wav'],
  ['flac', 'flac'],
  ['ogg', 'ogg'],
  ['weba', 'matroska'],
];

describe.each(FORMATS)('%s', (format, container) => {
  test('has its duration and no unusual property', async () => {
    const bytes = await readFile(await makeSound({ seconds: 2, container: format }));
    const result = await probeBytes(bytes, container);
    expect(result).toMatchObject({
      facts: { width: null, height: null, hasAudio: true, hasVideo: false, traits: { audioChannels: [1] } },
    });
    const { durationMs } = 'facts' in result ? result.facts : { durationMs: null };
    expect(Math.abs((durationMs ?? 0) - 2000)).toBeLessThan(100);
  });

  test('that is damaged anywhere gives a result', async () => {
    const intact = await readFile(await makeSound({ seconds: 2, container: format }));
    await fc.assert(
      fc.asyncProperty(
        fc.nat(intact.length - 1),
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        async (at, damage) => {
          const bytes = Buffer.from(intact);
          bytes.set(damage.subarray(0, bytes.length - at), at);
          const result = await probeBytes(bytes, container);
          expect(Object.keys(result)).toEqual(['refused' in result ? 'refused' : 'facts']);
        },
      ),
      { numRuns: 25 },
    );
  });
});

test('a cover does not matter, and neither do the pictures of a video', async () => {
  const song = await readFile(await makeSound({ seconds: 2, container: 'm4a', hasCover: true }));
  expect(await probeBytes(song, 'mov')).toMatchObject({ facts: { hasAudio: true } });
  const video = await readFile(await makeClip({ seconds: 1 }));
  expect(await probeBytes(video, 'mov')).toMatchObject({ facts: { hasAudio: true, hasVideo: true } });
});

test.each([
  ['no_audio_track', 'mov', { audio: false }],
  ['truncated', 'mov', { seconds: 10, faststart: true, more: ['-vn'] }],
] as const)('%s', async (refused, container, clip) => {
  const bytes = await readFile(await makeClip(clip));
  const part = refused === 'truncated' ? bytes.subarray(0, bytes.length * 0.7) : bytes;
  expect(await probeBytes(part, container)).toEqual({ refused });
});

test('noise is no media in any container', async () => {
  const noise = Buffer.alloc(100_000, 'no music ');
  for (const [, container] of FORMATS)
    expect(await probeBytes(noise, container)).toEqual({ refused: 'not_media' });
});
