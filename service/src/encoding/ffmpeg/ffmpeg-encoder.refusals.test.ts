// Tests that an invalid source gives a failure code and message, and that only operators see ffmpeg's output.
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeClip } from '../../../../test/support/clips/clips.ts';
import { type FilmOptions, encodeFilm } from '../../../../test/support/clips/film.ts';
import { EncodeError, type Encoder } from '../encoder.ts';
import { openFfmpegEncoder } from './ffmpeg-encoder.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-refused-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function refusal(source: string, options: FilmOptions = {}): Promise<EncodeError> {
  const outcome = await encodeFilm(source, options).catch((error: unknown) => error);
  if (outcome instanceof EncodeError) return outcome;
  throw new Error('not refused', { cause: outcome });
}

/** The first part of a file; `part` from 0 to 1. */
async function cut(source: string, part: number): Promise<string> {
  const { size } = await stat(source);
  const path = join(folder, `cut-${part}.${source.slice(-3)}`);
  await using file = await open(source);
  const { buffer } = await file.read(Buffer.alloc(Math.floor(size * part)), 0, Math.floor(size * part), 0);
  await writeFile(path, buffer);
  return path;
}

describe('refusals', () => {
  test.each([0.5, 0.95])('an MP4, cut off after %d of its bytes', async (part) => {
    const error = await refusal(await cut(await makeClip({ seconds: 10, faststart: true }), part));
    expect(error).toMatchObject({
      code: 'truncated',
      message: 'The end of the file is missing.',
    });
  });
  test('half a Matroska file', async () => {
    expect(
      (
        await refusal(await cut(await makeClip({ seconds: 10, container: 'mkv' }), 0.5), {
          container: 'matroska',
        })
      ).code,
    ).toBe('truncated');
  });
  test('half a transport stream is a shorter video', async () => {
    await using film = await encodeFilm(await cut(await makeClip({ seconds: 10, container: 'ts' }), 0.5), {
      container: 'mpegts',
    });
    expect(film.durationMs).toBeGreaterThan(3000);
    expect(film.durationMs).toBeLessThan(8000);
  });
  test('audio alone', async () => {
    expect((await refusal(await makeClip({ more: ['-vn'] }))).code).toBe('no_video_track');
  });
  test('an unknown codec', async () => {
    const source = await makeClip({
      container: 'mov',
      audio: false,
      more: ['-c:v', 'dvvideo', '-s', '720x576', '-r', '25'],
    });
    expect((await refusal(source)).code).toBe('unsupported_codec');
  });
  test('a frame of 67 megapixels', async () => {
    const source = await makeClip({ width: 8192, height: 8192, seconds: 0.04, fps: 25, audio: false });
    expect((await refusal(source)).code).toBe('picture_too_large');
  });

  test.each(['mov', 'matroska', 'mpegts'] as const)('no video at all, said to be %s', async (container) => {
    const path = join(folder, 'noise.mp4');
    await writeFile(path, Buffer.alloc(100_000, 'no film '));
    expect(await refusal(path, { container })).toMatchObject({
      code: 'not_media',
      message: 'The file cannot be read as media.',
    });
  });
  test.each(['mov', 'matroska', 'mpegts'] as const)(
    'a playlist that points at another file, said to be %s, opens nothing',
    async (container) => {
      const secret = await makeClip({ container: 'ts' });
      const path = join(folder, 'playlist.mp4');
      await writeFile(
        path,
        `#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://${secret}\n#EXT-X-ENDLIST\n`,
      );
      expect((await refusal(path, { container })).code).toBe('not_media');
    },
  );
  test('the log of ffmpeg is not part of the message', async () => {
    const path = join(folder, 'noise.mp4');
    await writeFile(path, 'no film');
    const { message, log } = await refusal(path);
    expect(log).toContain(path);
    expect(message).not.toContain(path);
  });
  test('ffmpeg is missing', async () => {
    const encoder: Encoder = openFfmpegEncoder({ ffmpegPath: join(folder, 'no-such-ffmpeg') });
    const request = {
      container: 'mov',
      workFolder: folder,
      signal: new AbortController().signal,
      onProgress: () => {},
    } as const;
    await expect(encoder.startEncode({ ...request, source: await makeClip() })).rejects.toMatchObject({
      code: 'encoder_missing',
    });
  });
});

test('the source is only read', async () => {
  const source = await makeClip({ seconds: 1 });
  const before = await readFile(source);
  await using _ = await encodeFilm(source);
  expect((await readFile(source)).equals(before)).toBe(true);
});
