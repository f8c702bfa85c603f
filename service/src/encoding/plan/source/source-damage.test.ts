// Tests how much of a source counts as damaged, and what the warning says.
import { expect, test } from 'vitest';
import { damageWarnings, isMostlyMissing, openDamageReader } from './source-damage.ts';

const frame = (time: number) => `0,${String(time).padStart(11)}, ${time},        1,      384, 0x0a21bd80`;
const CORRUPT = '[vist#0:0/h264 @ 0x1] [dec:h264 @ 0x2] corrupt decoded frame';
const LOST = 'Error while decoding stream #0:0: Invalid data found when processing input';

function measure(lines: readonly string[]) {
  const { read, damage } = openDamageReader({ videoIndex: 0, size: { width: 40, height: 20 } });
  for (const line of ['#tb 0: 1/10', ...lines]) read(line);
  return damage();
}

test('an error belongs to the next frame', () =>
  expect(measure([frame(0), CORRUPT, frame(1), frame(2), LOST, LOST, frame(5), frame(6)])).toEqual({
    pictures: 3,
    total: 7,
    missing: 2.5,
    from: 0.1,
    to: 0.5,
  }));
test('an error at the end belongs to the last frame', () =>
  expect(measure([frame(0), frame(9), LOST])).toEqual({
    pictures: 1,
    total: 3,
    missing: 1,
    from: 0.9,
    to: 0.9,
  }));
test('errors of other streams do not count', () =>
  expect(measure([frame(0), 'Error while decoding stream #0:1: Invalid data', frame(1)])).toEqual({
    pictures: 0,
    total: 2,
    missing: 0,
    from: 0,
    to: 0,
  }));

test('the decoder tells how many blocks of a picture it has invented', () => {
  const concealing = (blocks: number) => `[h264 @ 0x1] concealing ${blocks} DC, 6 AC, 6 MV errors in I frame`;
  const lines = [concealing(3), CORRUPT, frame(1), concealing(99), CORRUPT, frame(2), CORRUPT, frame(3)];
  expect(measure(lines)).toMatchObject({ pictures: 3, total: 3, missing: 0.5 + 1 + 0.5 });
});

test.each([
  [50, 100, false],
  [50.1, 100, true],
  [0, 1, false],
  [0, 0, true],
])('%d of %d missing pictures', (missing, total, expected) =>
  expect(isMostlyMissing({ missing, total })).toBe(expected),
);

test('the warning says how much is damaged, and where', () => {
  const damage = { pictures: 12, total: 300, missing: 1, from: 2.5, to: 3725.0004 };
  expect(damageWarnings(damage, 0)).toEqual([
    {
      code: 'damaged',
      message:
        'The file is damaged: 12 of 300 pictures, from 00:00:02.500 to 01:02:05.000, ' +
        'cannot be fully decoded.',
    },
  ]);
  expect(damageWarnings({ ...damage, pictures: 0 }, 1)[0]?.message).toBe(
    'The file is damaged: 1 packet of its sound cannot be fully decoded.',
  );
  expect(damageWarnings(damage, 2)[0]?.message).toContain('01:02:05.000, and 2 packets of its sound cannot');
  expect(damageWarnings(undefined, 0)).toEqual([]);
});
