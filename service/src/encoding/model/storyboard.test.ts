// Tests the number and size of the tiles of storyboards, and the WebVTT file that names them.
import { expect, test } from 'vitest';
import { formatStoryboard, planStoryboard } from './storyboard.ts';

const HD = { width: 1920, height: 1080 };

test.each([
  [0.5, { intervalSeconds: 2, tiles: 1, columns: 1, rows: 1, sprites: 1 }],
  [10, { intervalSeconds: 2, tiles: 5, columns: 5, rows: 1, sprites: 1 }],
  [25, { intervalSeconds: 2, tiles: 13, columns: 10, rows: 2, sprites: 1 }],
  [600, { intervalSeconds: 2, tiles: 300, columns: 10, rows: 10, sprites: 3 }],
  [601, { intervalSeconds: 3, tiles: 201, columns: 10, rows: 10, sprites: 3 }],
  [43_200, { intervalSeconds: 144, tiles: 300, columns: 10, rows: 10, sprites: 3 }],
])('a video of %d s', (seconds, expected) => {
  expect(planStoryboard({ ...HD, seconds })).toMatchObject(expected);
});

test.each([
  [HD, { width: 160, height: 90 }],
  [
    { width: 606, height: 1080 },
    { width: 90, height: 160 },
  ],
  [
    { width: 96, height: 54 },
    { width: 96, height: 54 },
  ],
  [
    { width: 3000, height: 20 },
    { width: 160, height: 2 },
  ],
])('tiles of %o have an even size and keep the shape', (size, tile) => {
  expect(planStoryboard({ ...size, seconds: 9 }).tile).toEqual(tile);
});

test('each cue names a sprite and the place in it; the last one ends with the video', () => {
  const seconds = 4001.25;
  const text = formatStoryboard({ plan: planStoryboard({ ...HD, seconds }), seconds, folder: '2-1' });
  const [head, ...cues] = text.trim().split('\n\n');
  expect(head).toBe('WEBVTT');
  expect(cues).toHaveLength(286);
  expect([cues[0], cues[11], cues[100], cues.at(-1)]).toEqual([
    '00:00:00.000 --> 00:00:14.000\n2-1/storyboard-1.jpg#xywh=0,0,160,90',
    '00:02:34.000 --> 00:02:48.000\n2-1/storyboard-1.jpg#xywh=160,90,160,90',
    '00:23:20.000 --> 00:23:34.000\n2-1/storyboard-2.jpg#xywh=0,0,160,90',
    '01:06:30.000 --> 01:06:41.250\n2-1/storyboard-3.jpg#xywh=800,720,160,90',
  ]);
});
