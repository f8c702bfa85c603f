// Tests the unusual properties that the probe finds in a video.
import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../test/support/clips/clips.ts';
import { openTestDecoders } from '../../../test/support/clips/decoders.ts';
import type { DefaultContainer } from '@mediary/media-rules/video-facts';
import { toWarnings } from '@mediary/media-rules/warnings';

const { probe, close } = openTestDecoders();
afterAll(close);

const CONTAINERS: Readonly<Record<string, DefaultContainer>> = {
  mkv: 'matroska',
  webm: 'matroska',
  ts: 'mpegts',
};

async function codesOf(options: ClipOptions): Promise<string[]> {
  const bytes = await readFile(await makeClip(options));
  const source = {
    sizeBytes: bytes.length,
    read: async (start: number, end: number) => bytes.subarray(start, end),
  };
  const result = await probe.probe(source, CONTAINERS[options.container ?? ''] ?? 'mov');
  if ('refused' in result) throw new Error(`refused: ${result.refused}`);
  return toWarnings(result.facts.traits).map(({ code }) => code);
}

describe('the probe finds', () => {
  test.each<[ClipOptions, readonly string[]]>([
    [{}, []],
    [{ more: ['-bf', '2'] }, []],
    [{ more: ['-movflags', '+frag_keyframe+empty_moov'] }, []],
    [{ container: 'mov', more: ['-r', '24000/1001'] }, []],
    [{ container: 'mkv' }, []],
    [{ container: 'webm' }, []],
    [{ container: 'mkv', more: ['-c:a', 'wmav2'] }, []],
    // Tracks that it misses in a transport stream are left to the encoder.
    [{ container: 'ts', more: ['-c:a', 'mp2'] }, []],
    [{ container: 'ts', audio: false }, []],
    [{ audio: false }, ['no_audio']],
    [{ container: 'mkv', audio: false }, ['no_audio']],
    [{ rotation: 90 }, ['rotated']],
    [{ fps: 5 }, ['low_frame_rate']],
    [{ fps: 120 }, ['high_frame_rate']],
    [{ more: ['-vf', "select='not(mod(n,7))+not(mod(n,3))'", '-fps_mode', 'vfr'] }, ['variable_frame_rate']],
    [{ more: ['-vf', 'scale=321:180,setsar=1', '-pix_fmt', 'yuv444p'] }, ['odd_dimensions']],
    [{ more: ['-map', '0:v', '-map', '1:a', '-map', '1:a'] }, ['multiple_audio_tracks']],
    [{ more: ['-ac', '6'] }, ['surround_audio']],
    [
      { more: ['-color_primaries', 'bt2020', '-color_trc', 'arib-std-b67', '-colorspace', 'bt2020nc'] },
      ['hdr'],
    ],
  ])('in %j: %j', async (options, codes) => {
    expect(await codesOf(options)).toEqual(codes);
  });
});
