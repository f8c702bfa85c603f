// Tests which progress of an import becomes an event.
import { describe, expect, test } from 'vitest';
import { createVideo, VIDEOS } from '../../lifecycle/asset.fixture.ts';
import { decideImportProgress, isProgressDue } from './import-progress.ts';

const MIB = 1024 * 1024;
const LAST = { bytes: 10 * MIB, atMs: 1000 };

describe('progress is due', () => {
  test('after two seconds and a twentieth of the file', () => {
    const at = (bytes: number, ms: number) => isProgressDue({ bytes, totalBytes: 100 * MIB }, LAST, ms);
    expect(at(15 * MIB, 3000)).toBe(true);
    expect(at(15 * MIB - 1, 3000)).toBe(false);
    expect(at(15 * MIB, 2999)).toBe(false);
  });

  test('after 64 MiB of a file of unknown length', () => {
    const at = (bytes: number) => isProgressDue({ bytes, totalBytes: undefined }, LAST, 3000);
    expect(at(74 * MIB)).toBe(true);
    expect(at(74 * MIB - 1)).toBe(false);
  });
});

describe('progress', () => {
  test('is an event of the attempt with the bytes so far', () => {
    expect(decideImportProgress(createVideo(), 1, { bytes: 5, totalBytes: undefined })).toEqual({
      set: {},
      events: [
        { type: 'asset.progress', data: { attempt: 1, source: 'service', bytes: 5, total_bytes: null } },
      ],
      jobs: [],
    });
  });

  test('of an import with two steps names its step', () => {
    const change = decideImportProgress(createVideo(), 1, { bytes: 15, totalBytes: 20, step: 'transfer' });
    expect(change?.events).toEqual([
      {
        type: 'asset.progress',
        data: { attempt: 1, source: 'service', step: 'transfer', bytes: 15, total_bytes: 20 },
      },
    ]);
  });

  test.each([
    ['of an earlier attempt', createVideo({ attempt: 2 })],
    ['of a deleted asset', createVideo({ deleted_at: new Date(0) })],
    ['of an asset that failed', VIDEOS.refused],
  ])('%s is not recorded', (_case, asset) => {
    expect(decideImportProgress(asset, 1, { bytes: 5, totalBytes: 10 })).toBeUndefined();
  });
});
