// Tests recordings in MPEG-TS, which start anywhere in the stream: all renditions are in time with the sound.
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type ClipOptions, ffmpegPaths, makeClip } from '../../../../test/support/clips/clips.ts';
import { encodeFilm } from '../../../../test/support/clips/film.ts';
import { beeps, flashes } from '../../../../test/support/clips/picture-and-sound.ts';
import { DEFAULT_LADDER, type Ladder } from '../plan/ladder/ladder.ts';

const SECONDS = 5;
const FPS = 25;
const LADDER: Ladder = {
  ...DEFAULT_LADDER,
  rungs: [180, 144].map((height) => ({ height, maxKilobits: 4 * height, profile: 'main' })),
};
/** No flash is a key frame, so that a part without its first key frame does not start with a flash. */
const CLIP: ClipOptions = {
  ...{ seconds: SECONDS, width: 320, height: 180, fps: FPS, container: 'ts', flashAndBeep: true },
  more: ['-g', '40', '-keyint_min', '40', '-sc_threshold', '0'],
};
/** Fourteen frames. */
const LATE_SECONDS = 0.56;
const LATE_PICTURE = ['-bsf:v', `setts=pts=PTS+${LATE_SECONDS}/TB:dts=DTS+${LATE_SECONDS}/TB`];

const PACKET_BYTES = 188;

/** Path of the clip without its first quarter, as of a recording that starts between two key frames. */
async function cutClip(options: ClipOptions): Promise<string> {
  const path = await makeClip(options);
  const bytes = await readFile(path);
  const start = Math.floor(bytes.length / 4 / PACKET_BYTES) * PACKET_BYTES;
  const part = `${path}.part.ts`;
  await writeFile(part, bytes.subarray(start));
  return part;
}

/** Of the first audio track, as ffmpeg numbers it. */
const SOUND_PID = 0x101;

/** Path of the clip without the packets of its sound, which its tables still list. */
async function makeSilentClip(): Promise<string> {
  const path = await makeClip(CLIP);
  const bytes = await readFile(path);
  const packets = Array.from({ length: bytes.length / PACKET_BYTES }, (_, index) =>
    bytes.subarray(index * PACKET_BYTES, (index + 1) * PACKET_BYTES),
  );
  const silent = `${path}.silent.ts`;
  await writeFile(
    silent,
    Buffer.concat(packets.filter((packet) => (packet.readUInt16BE(1) & 0x1fff) !== SOUND_PID)),
  );
  return silent;
}

describe.each(ffmpegPaths())('by %s', (ffmpeg) => {
  test.each([
    ['that starts between two key frames', () => cutClip(CLIP), 0],
    ['without sound that starts between two key frames', () => cutClip({ ...CLIP, audio: false }), undefined],
    [
      'whose picture starts late',
      () => makeClip({ ...CLIP, more: [...(CLIP.more ?? []), ...LATE_PICTURE] }),
      LATE_SECONDS,
    ],
  ])('every rendition of a recording %s has the times of the source', async (_, source, delay) => {
    await using film = await encodeFilm(await source(), { ffmpeg, ladder: LADDER, container: 'mpegts' });
    expect(film.renditions.length).toBeGreaterThanOrEqual(2);
    // The last flash is a second before the end of the clip.
    const end = film.durationMs / 1000;
    for (const id of film.renditions.keys()) {
      const seen = (await flashes({ url: film.path(`r${id}.m3u8`), stream: 'v:0' })).slice(-3);
      expect(seen).toHaveLength(3);
      for (const [index, at] of seen.toReversed().entries())
        expect(Math.abs(end - at - index - 1), `r${id}: ${seen} of ${end}`).toBeLessThan(0.1);
      if (delay === undefined) continue;
      const heard = await beeps({ url: film.path('hls.m3u8'), stream: 'a:0' });
      for (const [index, at] of seen.entries())
        expect(Math.abs(at - delay - (heard.slice(-3)[index] ?? 0))).toBeLessThan(0.05);
    }
  });

  test('a recording that announces sound and has none is encoded without sound', async () => {
    await using film = await encodeFilm(await makeSilentClip(), {
      ffmpeg,
      ladder: LADDER,
      container: 'mpegts',
    });
    expect(film.audio).toEqual([]);
    expect(Math.abs(film.durationMs - 1000 * SECONDS)).toBeLessThan(100);
    expect(film.warnings.map(({ code }) => code)).toEqual(['audio_unsupported']);
  });
});
