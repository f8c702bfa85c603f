// Tests the properties that the probe reads, its rejections, and failed reads.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from 'vitest';
import { openTestDecoders } from '../../../test/support/clips/decoders.ts';
import { type ClipOptions, makeClip, TEST_DATA } from '../../../test/support/clips/clips.ts';
import type { DefaultContainer, MediaFacts, ProbeResult } from '@mediary/media-rules/video-facts';
import type { ByteSource } from './probe.ts';

const { probe, close } = openTestDecoders();
afterAll(close);

const sourceOf = (bytes: Uint8Array): ByteSource => ({
  sizeBytes: bytes.length,
  read: async (start, end) => bytes.subarray(start, end),
});
const probeBytes = (bytes: Uint8Array, container: DefaultContainer) =>
  probe.probe(sourceOf(bytes), container);
const clipBytes = async (options: ClipOptions) => readFile(await makeClip(options));
const factsOf = (result: ProbeResult): MediaFacts => {
  if ('refused' in result) throw new Error(`refused: ${result.refused}`);
  return result.facts;
};

/** Bytes with one 32-bit number changed, counted from the end of a box's name. */
function patched(bytes: Buffer, box: string, { at, value }: { at: number; value: number }): Buffer {
  const copy = Buffer.from(bytes);
  copy.writeUInt32BE(value, copy.indexOf(box) + 4 + at);
  return copy;
}

const PICTURE = { width: 320, height: 180, hasVideo: true, hasAudio: true };

describe('facts', () => {
  test.each<[ClipOptions, DefaultContainer, Partial<MediaFacts>]>([
    [{ container: 'mp4' }, 'mov', PICTURE],
    [{ container: 'mp4', faststart: true }, 'mov', PICTURE],
    [{ container: 'mp4', audio: false }, 'mov', { ...PICTURE, hasAudio: false }],
    [{ container: 'mp4', more: ['-movflags', '+frag_keyframe+empty_moov'] }, 'mov', PICTURE],
    [{ container: 'mp4', more: ['-bf', '2'] }, 'mov', PICTURE],
    [{ container: 'mov' }, 'mov', PICTURE],
    [{ container: 'mov', more: ['-c:v', 'mjpeg', '-strict', '-1'] }, 'mov', PICTURE],
    [{ container: 'mov', more: ['-c:v', 'mpeg2video'] }, 'mov', PICTURE],
    [{ container: 'mp4', rotation: 90 }, 'mov', { width: 180, height: 320 }],
    [{ container: 'mov', rotation: 270 }, 'mov', { width: 180, height: 320 }],
    [{ container: 'mp4', rotation: 180 }, 'mov', PICTURE],
    [{ container: 'mp4', more: ['-vf', 'setsar=2/1'] }, 'mov', { width: 640, height: 180 }],
    [{ container: 'mkv' }, 'matroska', PICTURE],
    [{ container: 'mkv', more: ['-c:v', 'mpeg4'] }, 'matroska', PICTURE],
    [{ container: 'mkv', more: ['-vf', 'setsar=2/1'] }, 'matroska', { width: 640, height: 180 }],
    [{ container: 'webm' }, 'matroska', PICTURE],
  ])('of %j', async (options, container, expected) => {
    const facts = factsOf(await probeBytes(await clipBytes(options), container));
    expect(facts).toMatchObject(expected);
    expect(Math.abs((facts.durationMs ?? 0) - 2000)).toBeLessThan(60);
  });

  test('of a transport stream leave the size to the encoder, and its late start is not counted', async () => {
    const facts = factsOf(await probeBytes(await clipBytes({ container: 'ts' }), 'mpegts'));
    expect(facts).toMatchObject({ width: null, height: null, hasVideo: true, hasAudio: true });
    expect(Math.abs((facts.durationMs ?? 0) - 2000)).toBeLessThan(60);
  });
  test.each([['-vn'], ['-c:v', 'mpeg2video'], ['-c:v', 'mpeg2video', '-an']])(
    'of a transport stream made with %j %j report no video track',
    async (...more) => {
      expect(factsOf(await probeBytes(await clipBytes({ container: 'ts', more }), 'mpegts'))).toMatchObject({
        hasVideo: false,
      });
    },
  );
  test('that are broken cost the others nothing', async () => {
    const clip = await clipBytes({ container: 'mp4', faststart: true });
    expect(factsOf(await probeBytes(patched(clip, 'mdhd', { at: 12, value: 0 }), 'mov'))).toMatchObject({
      ...PICTURE,
      durationMs: null,
    });
  });
});

describe('refusals', () => {
  test.each<[ClipOptions, DefaultContainer]>([
    [{ container: 'mp4', more: ['-vn'] }, 'mov'],
    [{ container: 'mkv', more: ['-vn'] }, 'matroska'],
  ])('no_video_track: %j', async (options, container) => {
    expect(await probeBytes(await clipBytes(options), container)).toEqual({ refused: 'no_video_track' });
  });
  test.each<[ClipOptions, number]>([
    [{ container: 'mp4', faststart: true }, 1000],
    [{ container: 'mp4', faststart: true }, 100_000],
    [{ container: 'mov', faststart: true, audio: false }, 1],
    [{ container: 'mp4', more: ['-movflags', '+frag_keyframe+empty_moov'] }, 1000],
  ])('truncated: %j without its last %d bytes', async (options, missing) => {
    const clip = await clipBytes(options);
    expect(await probeBytes(clip.subarray(0, clip.length - missing), 'mov')).toEqual({
      refused: 'truncated',
    });
  });
  test('picture_too_large, regardless of the rest of the file', async () => {
    const huge = patched(await clipBytes({ container: 'mp4', faststart: true }), 'stsd', {
      at: 40,
      value: 0x2000_2000,
    });
    expect(await probeBytes(huge, 'mov')).toEqual({ refused: 'picture_too_large' });
  });
  test.each<[string, Uint8Array]>([
    ['nothing', Buffer.alloc(0)],
    ['one byte', Buffer.alloc(1)],
    ['zeros', Buffer.alloc(1_000_000)],
    ['a playlist', Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile:///etc/passwd\n')],
    ['a DASH manifest', Buffer.from('<?xml version="1.0"?><MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>')],
    ['a concat script', Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n")],
    ['a session description', Buffer.from('v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\nm=video 9 RTP/AVP 96\r\n')],
  ])('not_media: %s, under every container', async (_, bytes) => {
    for (const container of ['mov', 'matroska', 'mpegts'] as const)
      expect(await probeBytes(bytes, container)).toEqual({ refused: 'not_media' });
  });
  test('not_media: a good file of another container', async () => {
    expect(await probeBytes(await clipBytes({ container: 'webm' }), 'mov')).toEqual({ refused: 'not_media' });
    expect(await probeBytes(await clipBytes({ container: 'mp4' }), 'matroska')).toEqual({
      refused: 'not_media',
    });
    expect(await probeBytes(await clipBytes({ container: 'mp4' }), 'mpegts')).toEqual({
      refused: 'not_media',
    });
  });
});

describe('failed reads', () => {
  const broken = (read: ByteSource['read']): ByteSource => ({ sizeBytes: 100_000, read });
  test('reject with the error, and the next file is probed', async () => {
    await expect(
      probe.probe(
        broken(() => Promise.reject(new Error('the store is down'))),
        'mov',
      ),
    ).rejects.toThrow('the store is down');
    expect(factsOf(await probeBytes(await clipBytes({ container: 'mp4' }), 'mov'))).toMatchObject(PICTURE);
  });
  test('are detected when too few bytes are returned', async () => {
    await expect(
      probe.probe(
        broken(async () => Buffer.alloc(10)),
        'mov',
      ),
    ).rejects.toThrow('10 bytes instead of');
  });
  test('that take longer than the deadline are unavailable', async () => {
    const impatient = openTestDecoders({ probe: { deadlineMs: 500 } });
    await expect(
      impatient.probe.probe(
        broken(() => new Promise(() => {})),
        'mov',
      ),
    ).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await impatient.close();
  });
});

describe('the processes', () => {
  test('serve more files than there are processes, each with its own bytes', async () => {
    const clips = await Promise.all([320, 160, 240].map((width) => clipBytes({ container: 'mp4', width })));
    const results = Array.from({ length: 12 }, (_, n) => probeBytes(clips[n % 3] as Buffer, 'mov'));
    expect((await Promise.all(results)).map((result) => factsOf(result).width)).toEqual(
      Array(4).fill([320, 160, 240]).flat(),
    );
  });
  test('exit when the pool is closed', async () => {
    const closing = openTestDecoders();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const stuck = closing.probe.probe(
      {
        sizeBytes: 100_000,
        read: () => {
          resolve();
          return new Promise(() => {});
        },
      },
      'mov',
    );
    await started;
    await Promise.all([closing.close(), expect(stuck).rejects.toThrow('closed')]);
    await expect(closing.probe.probe(sourceOf(Buffer.alloc(0)), 'mov')).rejects.toThrow('closed');
  });
  test('do not prevent the service process from exiting', async () => {
    const decoders = new URL('../../../test/support/clips/decoders.ts', import.meta.url).href;
    const script = `
      import { openTestDecoders } from ${JSON.stringify(decoders)};
      const source = { sizeBytes: 9, read: async (start, end) => new Uint8Array(end - start) };
      console.log(await openTestDecoders().probe.probe(source, 'mov'));`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', script],
      { timeout: 25_000 },
    );
    expect(stdout).toContain('not_media');
  });
});

/** Display sizes that differ from the coded size in the manifest: rotation, or pixels that are not square. */
const SHOWN: Record<string, string> = {
  'rotated_hdr_video.mov': '1080x1920',
  'rotated_video.mp4': '480x640',
  'video_rotation_90.mp4': '60x100',
  'video_with_rectangular_samples.mp4': '1920x1080',
  'bbb_prog_10s.mp4': '427x240',
  'h264_white_frame_sar_16_9.mp4': '1138x480',
};
/** Truncated in the collection. */
const CUT = ['sample_qt.mp4', 'invalid_userdata.mp4'];
const CODED = /\b(?:h264|hevc|vp8|vp9|av1|mpeg4),(\d+),(\d+)/;

describe.skipIf(!TEST_DATA)('test data', () => {
  const root = TEST_DATA ?? '';
  test.each(['video-samples', 'video-bbb'])('sizes of %s are those of the manifest', async (set) => {
    const rows = readFileSync(join(root, set, 'MANIFEST.tsv'), 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [path = '', , , baseline = ''] = line.split('\t');
        const [, width, height] = CODED.exec(baseline) ?? [];
        return width ? [{ path, size: SHOWN[basename(path)] ?? `${width}x${height}` }] : [];
      });
    expect(rows.length).toBeGreaterThan(8);
    for (const { path, size } of rows) {
      const result = await probeBytes(
        readFileSync(join(root, set, path)),
        path.endsWith('.webm') ? 'matroska' : 'mov',
      );
      const seen = 'facts' in result ? `${result.facts.width}x${result.facts.height}` : result.refused;
      expect([path, seen]).toEqual([path, CUT.includes(basename(path)) ? 'truncated' : size]);
    }
  });
});
