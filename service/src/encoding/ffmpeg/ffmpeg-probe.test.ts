// Tests the probe of added containers with real files: what it finds, rejects and leaves to the encoder.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, ffmpegPath, makeClip } from '../../../../test/support/clips/clips.ts';
import type { AddedContainer, MediaFacts, ProbeResult } from '@mediary/media-rules/video-facts';
import { toWarnings } from '@mediary/media-rules/warnings';
import { LEFT_TO_ENCODER, openFfmpegProbe } from './ffmpeg-probe.ts';

let scratchRoot: string;
let held = 0;
beforeAll(async () => {
  scratchRoot = await mkdtemp(join(tmpdir(), 'mediary-probe-'));
});
afterAll(() => rm(scratchRoot, { recursive: true, force: true }));

const acquire = async () => {
  held += 1;
  return () => {
    held -= 1;
  };
};

type Ranges = [start: number, end: number][];

async function probeBytes(
  bytes: Uint8Array,
  container: AddedContainer,
  { sizeBytes = bytes.length, ffmpeg = ffmpegPath(), ranges = [] as Ranges } = {},
): Promise<ProbeResult> {
  const probe = openFfmpegProbe({ ffmpegPath: ffmpeg }, { acquire, scratchRoot, deadlineMs: 4000 });
  const read = async (start: number, end: number) => {
    ranges.push([start, end]);
    // The part that is missing in a longer file is full of zeros.
    return Buffer.concat([
      bytes.subarray(start, end),
      Buffer.alloc(end - Math.max(start, Math.min(end, bytes.length))),
    ]);
  };
  return probe.probe({ sizeBytes, read }, container);
}

const clipBytes = async (options: ClipOptions) => readFile(await makeClip(options));
const PICTURE = { width: 320, height: 180, hasVideo: true, hasAudio: true };

describe('the probe', () => {
  test.each<[ClipOptions, AddedContainer, Partial<MediaFacts>]>([
    [{ container: 'avi' }, 'avi', PICTURE],
    [{ container: 'mpg' }, 'mpeg', { ...PICTURE, durationMs: null }],
    [{ container: 'flv' }, 'flv', PICTURE],
    [{ container: 'wmv' }, 'asf', PICTURE],
    [{ container: 'ogv' }, 'ogg', PICTURE],
    [{ container: 'mxf', fps: 25 }, 'mxf', PICTURE],
    [{ container: 'avi', audio: false }, 'avi', { ...PICTURE, hasAudio: false }],
  ])('reads %j', async (options, container, expected) => {
    const result = await probeBytes(await clipBytes(options), container);
    if ('refused' in result) throw new Error(`refused: ${result.refused}`);
    expect(result.facts).toMatchObject(expected);
    if (expected.durationMs !== null)
      expect(Math.abs((result.facts.durationMs ?? 0) - 2000)).toBeLessThan(150);
    expect(toWarnings(result.facts.traits).map(({ code }) => code)).toEqual(
      options.audio === false ? ['no_audio'] : [],
    );
  });

  test.each<[ClipOptions, AddedContainer]>([
    [{ container: 'avi', more: ['-vn'] }, 'avi'],
    [{ container: 'ogv', more: ['-vn'] }, 'ogg'],
    [{ container: 'wmv', more: ['-vn'] }, 'asf'],
  ])('rejects %j: no video track', async (options, container) => {
    expect(await probeBytes(await clipBytes(options), container)).toEqual({ refused: 'no_video_track' });
  });

  test.each<[string, Uint8Array]>([
    ['zeros', Buffer.alloc(100_000)],
    ['a playlist', Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n')],
    ['a concat script', Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n")],
  ])('rejects %s under every container', async (_, bytes) => {
    for (const container of ['avi', 'mpeg', 'flv', 'asf', 'ogg', 'mxf'] as const)
      expect(await probeBytes(bytes, container)).toEqual({ refused: 'not_media' });
  });

  test('rejects a file of another container', async () => {
    expect(await probeBytes(await clipBytes({ container: 'avi' }), 'ogg')).toEqual({ refused: 'not_media' });
    expect(await probeBytes(await clipBytes({}), 'avi')).toEqual({ refused: 'not_media' });
  });

  test('reads the head and the end of a long file only, and leaves what it cannot see', async () => {
    const MIB = 1024 ** 2;
    const sizeBytes = 5 * 1024 * MIB;
    const ranges: Ranges = [];
    const avi = await clipBytes({ container: 'avi' });
    expect(await probeBytes(avi, 'avi', { sizeBytes, ranges })).toMatchObject({ facts: PICTURE });
    expect(ranges).toEqual([
      [0, 16 * MIB],
      [sizeBytes - 2 * MIB, sizeBytes],
    ]);
    expect(await probeBytes(Buffer.alloc(1), 'avi', { sizeBytes: 20 * MIB })).toEqual(LEFT_TO_ENCODER);
  });

  test('leaves all to the encoder where ffmpeg does not start', async () => {
    const avi = await clipBytes({ container: 'avi' });
    expect(await probeBytes(avi, 'avi', { ffmpeg: '/nowhere/ffmpeg' })).toEqual(LEFT_TO_ENCODER);
  });

  test('leaves no file and holds no process, also when bytes cannot be read', async () => {
    const probe = openFfmpegProbe({ ffmpegPath: ffmpegPath() }, { acquire, scratchRoot, deadlineMs: 4000 });
    const read = () => Promise.reject(new Error('the store is gone'));
    await expect(probe.probe({ sizeBytes: 9, read }, 'avi')).rejects.toThrow('the store is gone');
    expect(await readdir(scratchRoot)).toEqual([]);
    expect(held).toBe(0);
  });
});
