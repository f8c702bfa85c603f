// Tests what a crop keeps: the part around a point, and whether the URL or the asset chooses the point.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { focalPart, rotatedPoint, rotatedSize, toEdits } from './image-edits.ts';
import { isOutdated } from './variant-store.ts';

const part = fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000);
const points = fc.record({ x: part, y: part });
const side = fc.integer({ min: 1, max: 20_000 });
const sizes = fc.record({ width: side, height: side });

test('a crop is inside the image, contains its point, and has the shape of the box', () => {
  fc.assert(
    fc.property(sizes, sizes, points, (image, box, point) => {
      const { left, top, width, height } = focalPart(image, box, point);
      expect(Math.min(left, top, width - 1, height - 1)).toBeGreaterThanOrEqual(0);
      expect(left + width).toBeLessThanOrEqual(image.width);
      expect(top + height).toBeLessThanOrEqual(image.height);
      expect(width === image.width || height === image.height).toBe(true);
      // The point lies between pixels, and the edges are whole pixels.
      expect(Math.abs(point.x * image.width - left - width / 2)).toBeLessThanOrEqual(
        Math.max(width / 2, 0.5) + 0.5,
      );
      expect(Math.abs(point.y * image.height - top - height / 2)).toBeLessThanOrEqual(
        Math.max(height / 2, 0.5) + 0.5,
      );
      const scale = Math.min(image.width / box.width, image.height / box.height);
      expect(Math.abs(width - Math.max(1, box.width * scale))).toBeLessThanOrEqual(0.5 + 1e-6);
      expect(Math.abs(height - Math.max(1, box.height * scale))).toBeLessThanOrEqual(0.5 + 1e-6);
    }),
  );
});

test('a rotated picture has the point at the same place of what it shows', () => {
  const turns = fc.constantFrom(90, 180, 270);
  fc.assert(
    fc.property(sizes, points, turns, (image, point, rotate) => {
      const turned = rotatedPoint(point, rotate);
      const back = rotatedPoint(turned, 360 - rotate);
      expect([back.x, back.y]).toEqual([expect.closeTo(point.x, 9), expect.closeTo(point.y, 9)]);
      const seen = rotatedSize(image, rotate);
      const fromEdges = (size: typeof image, { x, y }: typeof point) =>
        [x * size.width, (1 - x) * size.width, y * size.height, (1 - y) * size.height].toSorted(
          (a, b) => a - b,
        );
      const distances = fromEdges(image, point).map((distance) => expect.closeTo(distance, 4));
      expect(fromEdges(seen, turned)).toEqual(distances);
    }),
  );
  expect(rotatedPoint({ x: 0.25, y: 0 }, 90)).toEqual({ x: 1, y: 0.25 });
  expect(rotatedPoint({ x: 0.25, y: 0 }, 270)).toEqual({ x: 0, y: 0.75 });
});

describe('the focal point of the asset', () => {
  const focalPoint = { x: 0.3, y: 0.6 };
  const crop = { isCropped: true, isLossy: true, animated: false, focalPoint };
  test.each([
    ['is kept where the URL says nothing', {}, crop, { focalPoint }],
    ['gives way to a point', { gravity: '0.1,0.2' }, crop, { gravity: { x: 0.1, y: 0.2 } }],
    ['gives way to the center', { gravity: 'center' }, crop, {}],
    ['gives way to the center as a point', { gravity: '0.5,0.5' }, crop, {}],
    ['gives way to attention', { gravity: 'attention' }, crop, { gravity: 'attention' }],
    [
      'gives way to attention, of an animation too',
      { gravity: 'attention' },
      { ...crop, animated: true },
      {},
    ],
    ['needs a crop', {}, { ...crop, isCropped: false }, {}],
    ['changes nothing in the center', {}, { ...crop, focalPoint: { x: 0.5, y: 0.5 } }, {}],
    ['may be missing', {}, { ...crop, focalPoint: null }, {}],
  ])('%s', (...[, query, variant, edits]) => {
    expect(toEdits(query, variant)).toEqual(edits);
  });
});

describe('a stored file', () => {
  const source = { prefix: '', focalPoint: { x: 0.3, y: 0.6 } };
  const moved = { prefix: '', focalPoint: null };
  test.each([
    ['320x320-cover-focal300x600.webp', false, true],
    ['late-320x320-cover-focal300x600-q40.webp', false, true],
    ['320x320-cover-focal300x60.webp', true, true],
    ['320x320-cover-at10x20.webp', false, false],
    ['320x213.webp', false, false],
    ['thumb.jpg', false, false],
  ])('%s is of an earlier focal point: %j, without one: %j', (file, isOfOther, isOfAny) => {
    expect([isOutdated(file, source), isOutdated(file, moved)]).toEqual([isOfOther, isOfAny]);
  });
  const replaced = { prefix: 'a2-', focalPoint: null };
  test.each([
    ['a2-320x213.webp', true, false],
    ['late-a2-320x213.webp', true, false],
    ['a21-320x213.webp', true, true],
    ['320x213.webp', false, true],
    ['thumb-2.jpg', false, false],
    ['thumb.jpg', false, false],
  ])(
    '%s is outdated while the first file is shown: %j, while the second one is: %j',
    (file, first, second) => {
      expect([isOutdated(file, moved), isOutdated(file, replaced)]).toEqual([first, second]);
    },
  );
});
