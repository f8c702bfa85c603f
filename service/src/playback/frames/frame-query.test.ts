// Tests which frames are offered, and how others are rounded or refused.
import { describe, expect, test } from 'vitest';
import { findFrameRedirect, findNearestFrame, type FrameRequest, frameName, toFrame } from './frame-query.ts';

const redirectOf = (request: FrameRequest) => findFrameRedirect(request, toFrame(request, 20_000));

test.each([
  [{ t: 0 }, '0-640'],
  [{ t: 12.5, w: 1280 }, '125-1280'],
  [{ t: 12.34, w: 1281 }, '123-1920'],
  [{ t: 20, w: 1 }, '200-160'],
])('%o is frame %s', (request, name) => {
  expect(frameName('1-2', toFrame(request, 20_000))).toBe(`frame-1-2-${name}.jpg`);
});

test('offered frames are served, others redirect to the next', () => {
  expect([{ t: 0 }, { t: 0.1 }, { t: 19.9, w: 160 }].map(redirectOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(redirectOf({ t: 0.26 })).toBe('t=0.3&w=640');
  expect(redirectOf({ t: 5, w: 161 })).toBe('t=5&w=320');
});

test('a time after the end and a width above the largest are refused with their field', () => {
  const end = expect.objectContaining({ details: { field: 't', reason: 'above_maximum', limit: 20.1 } });
  expect(() => toFrame({ t: 20.2 }, 20_033)).toThrow(end);
  expect(toFrame({ t: 20.1 }, 20_033).tenths).toBe(201);
  expect(toFrame({ t: 1e9 }, null).tenths).toBe(1e10);
  expect(() => toFrame({ t: 1, w: 1921 }, 20_000)).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({ field: 'w', reason: 'unsupported_value' }),
    }),
  );
});

describe('the nearest stored frame', () => {
  const names = ['frame-1-2-10-320.jpg', 'frame-1-2-10-1280.jpg', 'frame-1-2-40-320.jpg'];
  test.each([
    [
      { tenths: 12, width: 320 },
      { tenths: 10, width: 320 },
    ],
    [
      { tenths: 12, width: 960 },
      { tenths: 10, width: 1280 },
    ],
    [
      { tenths: 30, width: 1280 },
      { tenths: 40, width: 320 },
    ],
  ])('to %o is %o: the time decides, then the width', (frame, nearest) => {
    expect(findNearestFrame(names, '1-2', frame)).toEqual(nearest);
  });

  test('does not exist while no frame is stored', () => {
    expect(findNearestFrame([], '1-2', { tenths: 1, width: 320 })).toBeUndefined();
  });
});
