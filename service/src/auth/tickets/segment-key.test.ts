// Tests that the keys of segments depend on the secret, the asset, the run, the version and the track.
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { toSecret } from '../secret.ts';
import { deriveSegmentKey, findKeyRoot, type KeyScope, segmentKeyId } from './segment-key.ts';
import { deriveKey } from '../signed-token.ts';

const [current, previous, unknown] = ['current', 'previous', 'unknown'].map(toSecret) as [
  ReturnType<typeof toSecret>,
  ReturnType<typeof toSecret>,
  ReturnType<typeof toSecret>,
];
const scope: KeyScope = {
  assetId: '01900000-0000-7000-8000-000000000000',
  folder: '1-1',
  playbackVersion: 3,
};
const OTHER_SCOPES: readonly KeyScope[] = [
  { ...scope, assetId: '01900000-0000-7000-8000-000000000001' },
  { ...scope, folder: '1-11' },
  { ...scope, folder: '11-1' },
  { ...scope, playbackVersion: 4 },
];

const hmac = (key: Uint8Array, ...parts: readonly (string | Uint8Array)[]) =>
  parts.reduce((mac, part) => mac.update(part), createHmac('sha256', key)).digest();

describe('the key of a track', () => {
  test('is HKDF-SHA-256 (RFC 5869) of a key that is derived for segments alone', () => {
    const extracted = hmac(Buffer.alloc(32), deriveKey(current, 'segment').reveal());
    const info = `key 2 ${scope.assetId} 1-1 3`;
    const expanded = hmac(extracted, info, Uint8Array.of(1)).subarray(0, 16);
    expect(deriveSegmentKey(current, scope, 2)).toEqual(expanded);
  });

  test('is the same each time, and another one for each other input', () => {
    const keys = [
      deriveSegmentKey(current, scope, 0),
      deriveSegmentKey(current, scope, 1),
      deriveSegmentKey(previous, scope, 0),
      ...OTHER_SCOPES.map((other) => deriveSegmentKey(current, other, 0)),
    ].map((key) => key.toString('hex'));
    expect(new Set(keys).size).toBe(keys.length);
    expect(deriveSegmentKey(current, scope, 0).toString('hex')).toBe(keys[0]);
  });
});

describe('the id of a key', () => {
  test('finds the secret that it was made with', () => {
    for (const root of [current, previous])
      expect(findKeyRoot([current, previous], scope, segmentKeyId(root, scope))).toBe(root);
  });

  test('is unknown for other secrets, assets, runs and versions', () => {
    expect(findKeyRoot([current, previous], scope, segmentKeyId(unknown, scope))).toBeUndefined();
    for (const other of OTHER_SCOPES)
      expect(findKeyRoot([current, previous], scope, segmentKeyId(current, other))).toBeUndefined();
  });

  test('does not contain the key', () => {
    const id = segmentKeyId(current, scope);
    expect(id).toMatch(/^[0-9a-f]{16}$/);
    for (const track of [0, 1, 2])
      expect(deriveSegmentKey(current, scope, track).toString('hex')).not.toContain(id);
  });
});
