// Tests the log lines of assets that became playable, ready or failed.
import { expect, test } from 'vitest';
import { createVideo } from '../asset.fixture.ts';
import { toMilestoneLines } from './milestones.ts';

const UPLOADED = new Date('2026-01-01T10:00:00.000Z');
const NOW = new Date('2026-01-01T10:00:12.420Z');

const linesOf = (
  asset: Parameters<typeof createVideo>[0],
  type: 'asset.ready' | 'asset.failed' | 'asset.updated',
) => toMilestoneLines(createVideo({ uploaded_at: UPLOADED, ...asset }), [{ type }], NOW);

test('a ready video has the time since its upload, and its heights once', () => {
  const renditions = [720, 360, 720].map((height) => ({ height, state: 'ready' as const }));
  const asset = {
    filename: 'private.mp4',
    renditions: [...renditions, { height: 240, state: 'failed' as const }],
  };
  expect(linesOf(asset, 'asset.ready')).toEqual([
    {
      level: 'info',
      message: 'asset ready',
      facts: {
        asset_id: createVideo().id,
        kind: 'video',
        provider: 'onprem',
        seconds: 12.4,
        heights: [720, 360],
      },
    },
  ]);
});

test('a failed one has the reason and the attempt, also without an upload', () => {
  const failure = { code: 'upload_expired', message: 'secret', retryable: true };
  const [line] = linesOf({ uploaded_at: null, attempt: 2, failure }, 'asset.failed');
  expect(line).toMatchObject({
    level: 'warn',
    facts: { code: 'upload_expired', attempt: 2 },
  });
  expect(JSON.stringify(line)).not.toContain('secret');
});

test('other events have no line', () => {
  expect(linesOf({}, 'asset.updated')).toEqual([]);
});
