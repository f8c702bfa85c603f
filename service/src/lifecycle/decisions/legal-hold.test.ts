// Tests that a legal hold is recorded once, and that no order of decisions ends the bytes of a held asset.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW, VIDEOS } from '../asset.fixture.ts';
import type { AssetChange } from './change.ts';
import { decideChecksum, decideRefusal, decideReopening, decideRetry } from './decide-commands.ts';
import { assertNotHeld, decideHold } from './legal-hold.ts';
import { findEndedReferences } from './stored-references.ts';

const actorData = { source: 'caller', key_name: 'legal' };
const stored = createVideo({ uploaded_at: NOW, size_bytes: 10, announced_sha256: 'bb' });
const FAILURE = { code: 'type_mismatch', message: 'no', retryable: true };
const HELD = expect.objectContaining({ code: 'CONFLICT', details: { reason: 'legal_hold' } });

describe('a hold', () => {
  test('is set and released with an event that tells by whom', () => {
    expect(decideHold(stored, { isHeld: true, actorData })).toEqual({
      set: { legal_hold: true },
      events: [
        { type: 'asset.updated', data: { ...actorData, fields: ['legal_hold'], reason: 'legal_hold_set' } },
      ],
      jobs: [],
    });
    expect(decideHold({ ...stored, legal_hold: true }, { isHeld: false, actorData })).toMatchObject({
      set: { legal_hold: false },
      events: [{ data: { reason: 'legal_hold_released' } }],
    });
  });
  test('that is repeated changes nothing', () => {
    expect(decideHold(stored, { isHeld: false, actorData })).toBeUndefined();
    expect(decideHold({ ...stored, legal_hold: true }, { isHeld: true, actorData })).toBeUndefined();
  });
  test('reaches an asset in the trash, and none whose bytes go already', () => {
    const trashed = { ...stored, deleted_at: NOW, purge_at: NOW };
    expect(decideHold(trashed, { isHeld: true, actorData })?.set).toEqual({ legal_hold: true });
    expect(() => decideHold({ ...trashed, purge_at: null }, { isHeld: true, actorData })).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
  });
  test('refuses what ends bytes', () => {
    expect(() => assertNotHeld({ legal_hold: true })).toThrow(HELD);
    expect(() => assertNotHeld({ legal_hold: false })).not.toThrow();
  });
});

test('a refusal of a held asset removes bytes only if none are stored', () => {
  const held = { ...stored, legal_hold: true };
  expect(decideRefusal(held, FAILURE)).toMatchObject({ set: { refused: true }, jobs: [] });
  expect(decideRefusal(held, FAILURE).set).not.toHaveProperty('uploaded_at');
  expect(decideRefusal({ ...VIDEOS.pending, legal_hold: true }, FAILURE).jobs).toMatchObject([
    { name: 'purge-asset' },
  ]);
});

const reopening = { expiresAt: NOW, checkAt: null, keepsAnnouncement: false, actorData: {} };
const read = { uploadId: stored.original_upload, sha256: 'aa', duplicateOf: null };
const COMMANDS = {
  refuse: (seen) => decideRefusal(seen, FAILURE),
  reopen: (seen) => decideReopening(seen, reopening),
  retry: (seen) => decideRetry(seen, {}, NOW),
  checksum: (seen) => decideChecksum(seen, read),
  hold: (seen) => decideHold(seen, { isHeld: true, actorData }),
} satisfies Record<string, (seen: Asset) => AssetChange | undefined>;

/** The asset after a command; a refused command changes nothing. */
function afterCommand(seen: Asset, name: keyof typeof COMMANDS): Asset {
  try {
    return { ...seen, ...COMMANDS[name](seen)?.set };
  } catch (error) {
    expect(error).toEqual(HELD);
    return seen;
  }
}

test('commands in any order keep the original of a held asset', () => {
  const names = fc.array(fc.constantFrom(...(Object.keys(COMMANDS) as (keyof typeof COMMANDS)[])), {
    maxLength: 12,
  });
  const start = fc.constantFrom(stored, { ...stored, stream_status: 'processing' as const });
  fc.assert(
    fc.property(start, names, (asset, commands) => {
      let seen: Asset = asset;
      for (const name of commands) {
        const next = afterCommand(seen, name);
        if (seen.legal_hold) expect(findEndedReferences(seen, next)).toEqual([]);
        if (seen.legal_hold && seen.uploaded_at) expect(next.uploaded_at).toEqual(seen.uploaded_at);
        seen = next;
      }
    }),
  );
});
