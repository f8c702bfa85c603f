// Tests what an inspection tells of made files, and how many bytes it reads.
import { openAsBlob } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../../../test/support/clips/clips.ts';
import { createMediary } from '../mediary.ts';
import type { FileInspection, InspectOptions } from './inspection.ts';

const { media } = createMediary({
  baseUrl: 'http://127.0.0.1:1',
  token: 'token',
  fetch: () => Promise.reject(new Error('an inspection sends no request')),
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-inspect-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const inspectBytes = (bytes: Uint8Array, options: InspectOptions = {}): Promise<FileInspection> =>
  media.inspect(new Blob([Buffer.from(bytes)]), options);
const inspectClip = async (clip: ClipOptions, options: InspectOptions = {}): Promise<FileInspection> =>
  inspectBytes(await readFile(await makeClip(clip)), options);
const codesOf = (found: readonly { readonly code: string }[]): string[] => found.map(({ code }) => code);

const picture = (format: 'jpeg' | 'png' | 'webp' | 'gif' | 'avif', orientation?: number) => {
  const plain = sharp({ create: { width: 60, height: 40, channels: 3, background: 'teal' } });
  return (orientation ? plain.withMetadata({ orientation }) : plain).toFormat(format).toBuffer();
};

describe('of a video, an inspection tells', () => {
  test('container, codecs, duration, size, frame rate and audio tracks', async () => {
    expect(await inspectClip({ container: 'mp4' })).toEqual({
      kind: 'video',
      container: 'mov',
      mime_type: 'video/mp4',
      size_bytes: expect.any(Number),
      width: 320,
      height: 180,
      duration_ms: expect.closeTo(2000, -2),
      rotation: 0,
      is_mirrored: false,
      is_animated: null,
      video: { codec: 'h264', fps: 30, hdr: false },
      audio: [{ codec: 'aac', channels: 1, sample_rate_hz: 48_000, language: null }],
      placeholder: null,
      warnings: [],
      refusals: [],
      is_complete: true,
    });
  });

  test.each([
    ['webm', 'matroska', 'video/webm', 'vp8', 'opus'],
    ['mkv', 'matroska', 'video/x-matroska', 'h264', 'aac'],
    ['mov', 'mov', 'video/mp4', 'h264', 'aac'],
    ['ts', 'mpegts', 'video/mp2t', 'h264', 'aac'],
  ] as const)(
    'the codecs and the frame rate in %s',
    async (...[extension, container, type, video, audio]) => {
      const found = await inspectClip({ container: extension });
      expect(found).toMatchObject({ container, mime_type: type, video: { codec: video }, refusals: [] });
      expect(found.audio).toMatchObject([{ codec: audio }]);
      expect(found.video?.fps).toBeCloseTo(30, 0);
    },
  );

  test('its rotation, and the size that players show', async () => {
    const found = await inspectClip({ rotation: 90 });
    expect(found).toMatchObject({ width: 180, height: 320, rotation: 90, is_mirrored: false });
    expect(codesOf(found.warnings)).toEqual(['rotated']);
  });

  test('the languages of its audio tracks, with the warning that the service would give', async () => {
    const languages = ['-metadata:s:a:0', 'language=deu', '-metadata:s:a:1', 'language=fra'];
    const found = await inspectClip({ more: ['-map', '0:v', '-map', '1:a', '-map', '1:a', ...languages] });
    expect(found.audio.map(({ language }) => language)).toEqual(['deu', 'fra']);
    expect(codesOf(found.warnings)).toEqual(['multiple_audio_tracks']);
  });

  test('its dynamic range', async () => {
    const hlg = ['-color_primaries', 'bt2020', '-color_trc', 'arib-std-b67', '-colorspace', 'bt2020nc'];
    const found = await inspectClip({ more: hlg });
    expect(found.video?.hdr).toBe(true);
    expect(codesOf(found.warnings)).toEqual(['hdr']);
  });
});

describe('of an image, an inspection tells', () => {
  test.each(['jpeg', 'png', 'webp', 'gif', 'avif'] as const)('the size in %s', async (format) => {
    expect(await inspectBytes(await picture(format))).toMatchObject({
      kind: 'image',
      container: format,
      mime_type: `image/${format}`,
      width: 60,
      height: 40,
      duration_ms: null,
      is_animated: false,
      warnings: [],
      refusals: [],
      is_complete: true,
    });
  });

  test.each([
    [3, { width: 60, height: 40, rotation: 180, is_mirrored: false }],
    [5, { width: 40, height: 60, rotation: 270, is_mirrored: true }],
    [6, { width: 40, height: 60, rotation: 90, is_mirrored: false }],
    [8, { width: 40, height: 60, rotation: 270, is_mirrored: false }],
  ])('its orientation %d, and the size that is shown', async (orientation, shown) => {
    for (const format of ['jpeg', 'webp', 'png'] as const)
      expect(await inspectBytes(await picture(format, orientation))).toMatchObject(shown);
  });

  test('its frames: all of them count for the limit of pixels', async () => {
    const frames = Array.from({ length: 3 }, (_, index) => Buffer.alloc(30 * 20 * 3, index * 80));
    const raw = { width: 30, height: 60, channels: 3, pageHeight: 20 } as const;
    for (const format of ['gif', 'webp'] as const) {
      const animation = await sharp(Buffer.concat(frames), { raw }).toFormat(format).toBuffer();
      const limits = { maxImagePixels: 3 * 30 * 20 - 1 };
      const found = await inspectBytes(animation, { limits });
      expect(found).toMatchObject({ width: 30, height: 20, is_animated: true });
      expect(found.refusals).toMatchObject([{ code: 'picture_too_large', limit: limits.maxImagePixels }]);
    }
  });
});

describe('an inspection refuses', () => {
  test('a type that is not supported, and says which are', async () => {
    const { kind, refusals } = await inspectBytes(Buffer.from('%PDF-1.7'), { mimeType: 'application/pdf' });
    expect(kind).toBeNull();
    expect(refusals).toEqual([
      {
        code: 'unsupported_value',
        field: 'mime_type',
        message: expect.stringMatching(
          /^mime_type "application\/pdf" is not supported\. Supported: image\/jpeg/,
        ),
        allowed: expect.arrayContaining(['image/jpeg', 'video/mp4']),
      },
    ]);
  });

  test('a type that this service does not allow', async () => {
    const limits = { mimeTypes: ['image/png'] };
    const { refusals } = await inspectBytes(await picture('jpeg'), { limits });
    expect(refusals).toMatchObject([{ code: 'unsupported_value', allowed: ['image/png'] }]);
  });

  test('no type that this service allows in addition', async () => {
    const file = await readFile(await makeClip({ container: 'avi' }));
    expect(codesOf((await inspectBytes(file)).refusals)).toEqual(['unsupported_value']);
    const found = await inspectBytes(file, { limits: { mimeTypes: ['default', 'video/avi'] } });
    expect(found).toMatchObject({
      container: 'avi',
      mime_type: 'video/x-msvideo',
      width: null,
      refusals: [],
    });
  });

  test('bytes of another type than that of the name', async () => {
    const { mime_type, refusals } = await inspectBytes(await picture('png'), { filename: 'picture.jpg' });
    expect(mime_type).toBe('image/jpeg');
    expect(codesOf(refusals)).toEqual(['type_mismatch']);
  });

  test('a file that is too large or too long, with the limit', async () => {
    const limits = { maxBytes: 1000, maxDurationSeconds: 1 };
    const { refusals } = await inspectClip({}, { limits });
    expect(refusals).toMatchObject([
      { code: 'size_above_limit', field: 'size_bytes', limit: 1000 },
      { code: 'too_long', limit: 1 },
    ]);
    for (const { message } of refusals) expect(message).toMatch(/^[A-Zs].* \d+/);
  });

  test('a playlist, a video without its end, and sound alone', async () => {
    const playlist = await inspectBytes(Buffer.from('#EXTM3U\n'), { mimeType: 'video/mp4' });
    expect(codesOf(playlist.refusals)).toEqual(['playlist']);
    const clip = await readFile(await makeClip({ faststart: true }));
    const cut = await inspectBytes(clip.subarray(0, clip.length - 1000));
    expect(codesOf(cut.refusals)).toEqual(['truncated']);
    const sound = await inspectClip({ more: ['-vn'] });
    expect(codesOf(sound.refusals)).toEqual(['no_video_track']);
  });

  test('a picture with more pixels than any video may have', async () => {
    const clip = await readFile(await makeClip({ faststart: true }));
    const at = clip.indexOf('avc1', clip.indexOf('stsd')) + 28;
    clip.writeUInt32BE(0x2000_2000, at);
    const { refusals } = await inspectBytes(clip);
    expect(refusals).toMatchObject([{ code: 'picture_too_large', limit: 36_000_000 }]);
  });
});

describe('an inspection fails', () => {
  test('with FILE_UNREADABLE, where the file has changed since it was chosen', async () => {
    const path = join(folder, 'changed.mp4');
    await writeFile(path, await readFile(await makeClip({})));
    const file = await openAsBlob(path);
    await writeFile(path, 'other bytes');
    await expect(media.inspect(file)).rejects.toMatchObject({
      name: 'MediaryError',
      errorCode: 'FILE_UNREADABLE',
      message: expect.stringMatching(/^The file cannot be read\. .*\.$/),
    });
  });

  test('with the reason of an aborted signal', async () => {
    const reason = new Error('the user left');
    const signal = AbortSignal.abort(reason);
    await expect(media.inspect(new Blob(['x']), { signal })).rejects.toBe(reason);
  });
});
