// Tests that the placeholder of a video shows the colours of its thumbnail in their places.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { thumbHashToRGBA } from 'thumbhash';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath } from '../../../../test/support/clips/clips.ts';
import { openSession } from './ffmpeg-session.ts';
import { createPlaceholder } from './placeholder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-placeholder-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

type Size = { readonly width: number; readonly height: number };

async function placeholderOf(picture: Buffer, size: Size): Promise<string | undefined> {
  const path = join(folder, 'thumb.jpg');
  await writeFile(path, picture);
  const request = {
    source: path,
    container: 'mov',
    workFolder: folder,
    signal: new AbortController().signal,
    onProgress: () => {},
  } as const;
  return createPlaceholder(openSession({ ffmpegPath: ffmpegPath() }, request), path, size);
}

const paint = ({ width, height }: Size, background: string): Buffer | Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background } })
    .png()
    .toBuffer();

test.each([
  [
    { width: 640, height: 360 },
    { width: 1920, height: 1080 },
  ],
  [
    { width: 90, height: 1280 },
    { width: 90, height: 1280 },
  ],
  [
    { width: 64, height: 36 },
    { width: 64, height: 36 },
  ],
])('a thumbnail of %o that is red at the left and blue at the right', async (thumbnail, video) => {
  const blue = await paint({ width: thumbnail.width / 2, height: thumbnail.height }, '#1020d0');
  const jpeg = await sharp(await paint(thumbnail, '#d02010'))
    .composite([{ input: blue, gravity: 'east' }])
    .jpeg()
    .toBuffer();
  const placeholder = await placeholderOf(jpeg, video);
  expect(placeholder).toMatch(/^[\w+/]{4,60}={0,2}$/);
  const { w, h, rgba } = thumbHashToRGBA(Buffer.from(String(placeholder), 'base64'));
  expect(w > h).toBe(video.width > video.height);
  const [left, right] = [0, w - 1].map((x) => [...rgba.slice(4 * x, 4 * x + 4)]) as [number[], number[]];
  expect([left[0], right[2]].every((value) => Number(value) > 150)).toBe(true);
  expect([left[2], right[0]].every((value) => Number(value) < 100)).toBe(true);
  expect([left[3], right[3]]).toEqual([255, 255]);
});

test('a file that is no picture has none', async () => {
  expect(await placeholderOf(Buffer.from('no picture'), { width: 64, height: 36 })).toBeUndefined();
});
