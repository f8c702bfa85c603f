// Tests how long an import may hold its slot while another owner waits.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayKeepSlot } from './import-pace.ts';

const KIB = 1024;

test.each([
  ['nothing yet', { heldMs: 4999, bytes: 0 }, true],
  ['nothing in time', { heldMs: 5000, bytes: 0 }, false],
  ['a slow server', { heldMs: 5000, bytes: 3000 }, false],
  ['640 KiB a second', { heldMs: 5000, bytes: 5 * 640 * KIB }, true],
  ['the same, ten seconds later', { heldMs: 15_000, bytes: 15 * 640 * KIB }, false],
  ['a fast server at the end of its turn', { heldMs: 60_000, bytes: 1e12 }, false],
])('an import that continues later: %s', (_name, held, mayKeep) => {
  expect(mayKeepSlot({ ...held, isResumable: true })).toBe(mayKeep);
});

test.each([
  ['a slow server', { heldMs: 5000, bytes: 3000 }, false],
  ['1 MiB a second', { heldMs: 299_000, bytes: 299 * KIB * KIB }, true],
  ['the end of its turn', { heldMs: 300_000, bytes: 1e12 }, false],
])('an import that would lose its bytes: %s', (_name, held, mayKeep) => {
  expect(mayKeepSlot({ ...held, isResumable: false })).toBe(mayKeep);
});

test('more bytes never end a turn, more time at one rate never prolongs it, and lost bytes get more', () => {
  const held = fc.record({
    heldMs: fc.nat(400_000),
    rate: fc.nat(200_000_000),
    isResumable: fc.boolean(),
    more: fc.nat(1_000_000),
  });
  fc.assert(
    fc.property(held, ({ heldMs, rate, isResumable, more }) => {
      const at = (ms: number, extra = 0) =>
        mayKeepSlot({ heldMs: ms, bytes: (rate * ms) / 1000 + extra, isResumable });
      if (at(heldMs)) expect(at(heldMs, more)).toBe(true);
      else expect(at(heldMs + more)).toBe(false);
      const bytes = (rate * heldMs) / 1000;
      if (mayKeepSlot({ heldMs, bytes, isResumable: true }))
        expect(mayKeepSlot({ heldMs, bytes, isResumable: false })).toBe(true);
    }),
  );
});
