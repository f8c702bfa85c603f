// Tests how an import moves on to its hosted provider, and when the stored bytes are removed.
import { describe, expect, test } from 'vitest';
import { createVideo } from '../../lifecycle/asset.fixture.ts';
import { decideRelease, decideTransferEnd, decideTransferStart } from './transfer-decisions.ts';

const NOW = new Date('2026-01-02T03:04:05Z');
const STORED = createVideo({
  provider: 'cdnhost',
  stream_status: 'pending_upload',
  uploaded_at: new Date(0),
  size_bytes: 100,
});
const WARNING = { code: 'no_audio', message: 'The file has no audio track.' };
const CHECKED = {
  attempt: 1,
  facts: { width: 640, height: 360, duration_ms: 4000 },
  warnings: [WARNING],
};
const PURGE = { name: 'purge-asset', payload: { assetId: STORED.id } };
const TRANSFER = {
  name: 'transfer-import',
  payload: { provider: 'cdnhost', assetId: STORED.id, attempt: 1 },
};

describe('valid bytes', () => {
  test('start the job of the provider, and are described', () => {
    expect(decideTransferStart(STORED, CHECKED)).toEqual({
      set: { ...CHECKED.facts, warnings: [WARNING] },
      events: [
        {
          type: 'asset.updated',
          data: {
            attempt: 1,
            source: 'service',
            fields: ['width', 'height', 'duration_ms', 'warnings'],
          },
        },
      ],
      jobs: [TRANSFER],
    });
  });

  test('that are described already start the job alone', () => {
    const described = { ...STORED, ...CHECKED.facts, warnings: [WARNING] };
    expect(decideTransferStart(described, CHECKED)).toEqual({ set: {}, events: [], jobs: [TRANSFER] });
  });

  test.each([
    ['of an earlier attempt', { attempt: 2 }],
    ['that are not stored', { uploaded_at: null }],
    ['of a deleted asset', { deleted_at: NOW }],
    ['of an asset that is processed already', { stream_status: 'processing' as const }],
  ])('%s start nothing', (_case, change) => {
    expect(decideTransferStart({ ...STORED, ...change }, CHECKED)).toBeUndefined();
  });
});

describe('the end of a transfer', () => {
  test('starts processing and removes the stored bytes', () => {
    expect(decideTransferEnd(STORED, 1, NOW)).toMatchObject({
      set: { stream_status: 'processing', uploaded_at: null },
      events: [{ type: 'asset.processing', data: { attempt: 1, source: 'service' } }],
      jobs: [PURGE],
    });
  });

  test.each(['processing', 'ready', 'failed'] as const)('of a video that is %s already', (status) => {
    const expected = { set: { uploaded_at: null }, events: [], jobs: [PURGE] };
    expect(decideTransferEnd({ ...STORED, stream_status: status }, 1, NOW)).toEqual(expected);
    expect(decideRelease({ ...STORED, stream_status: status }, 1)).toEqual(expected);
  });

  test.each([
    ['of an earlier attempt', { attempt: 2 }],
    ['of a deleted asset', { deleted_at: NOW }],
    ['whose bytes are removed already', { stream_status: 'ready' as const, uploaded_at: null }],
  ])('%s changes nothing', (_case, change) => {
    expect(decideTransferEnd({ ...STORED, ...change }, 1, NOW)).toBeUndefined();
    expect(decideRelease({ ...STORED, ...change }, 1)).toBeUndefined();
  });

  test('the bytes of an asset that still waits for them are kept', () => {
    expect(decideRelease(STORED, 1)).toBeUndefined();
  });
});
