// Tests that a manifest shows the newest index of its run, and that an index is read once.
import { expect, test } from 'vitest';
import type { RunIndex } from '../encoding/packaging/run-index.ts';
import { formatIndex } from '../encoding/packaging/run-index.ts';
import { pictureTrack } from '../encoding/packaging/tracks.fixture.ts';
import { openManifests } from './rendered-manifests.ts';

const COMPLETED_AT = Date.parse('2026-01-01T00:00:40.000Z');

const indexOf = (segments: number, isGrowing: boolean): RunIndex => ({
  frameRate: { numerator: 25, denominator: 1 },
  tracks: [pictureTrack(0, { width: 640, height: 360, seconds: Array(segments).fill(4) })],
  early: [0],
  ...(!isGrowing && { completedAt: new Date(COMPLETED_AT).toISOString() }),
  ...(isGrowing && {
    growth: {
      isComplete: false,
      awaited: [],
      startedAt: '2026-01-01T00:00:00.000Z',
      publishedAt: '2026-01-01T00:00:01.000Z',
      durationSeconds: 40,
    },
  }),
});

/** A run in the database until `end`, then in the store. */
function openRun() {
  let growing: { revision: number; body: string } | undefined;
  const reads: string[] = [];
  let now = COMPLETED_AT;
  const manifests = openManifests({
    now: () => new Date(now),
    encoding: {
      findGrowingIndex: async ({ known }) => {
        if (!growing) return undefined;
        const isKnown = growing.revision === known;
        reads.push(isKnown ? 'revision' : 'index');
        return { revision: growing.revision, body: isKnown ? null : growing.body };
      },
      readIndex: async () => {
        reads.push('stored');
        return indexOf(10, false);
      },
    },
  });
  const find = (name: string, isGrowing: boolean) =>
    manifests.find('asset', { manifest: { name, folder: '1-1', captions: [] }, isGrowing });
  const segments = async (isGrowing: boolean) => {
    const found = await find('r0.m3u8', isGrowing);
    const text = Buffer.from(found?.bytes ?? []).toString();
    return [text.match(/#EXTINF/g)?.length, found?.isGrowing];
  };
  return {
    reads,
    find,
    segments,
    publish: (revision: number, count: number) => {
      growing = { revision, body: formatIndex(indexOf(count, true)) };
    },
    end: () => {
      growing = undefined;
    },
    wait: (seconds: number) => {
      now += seconds * 1000;
    },
  };
}

test('a growing run shows each index as soon as it is published, and reads it once', async () => {
  const run = openRun();
  run.publish(1, 2);
  expect(await run.segments(true)).toEqual([2, true]);
  expect(await run.segments(true)).toEqual([2, true]);
  run.publish(2, 3);
  expect(await run.segments(true)).toEqual([3, true]);
  expect(run.reads).toEqual(['index', 'revision', 'index']);
});

test('an ended run is read from the store once, also while an asset is still known as growing', async () => {
  const run = openRun();
  run.publish(7, 9);
  await run.segments(true);
  run.end();
  expect(await run.segments(true)).toEqual([10, false]);
  expect(await run.segments(false)).toEqual([10, false]);
  expect((await run.find('hls.m3u8', false))?.etag).toBe((await run.find('hls.m3u8', false))?.etag);
  expect(run.reads).toEqual(['index', 'stored']);
});

test('the playlist of early players ends after they have read all segments', async () => {
  const run = openRun();
  const read = async (name: string) => {
    const found = await run.find(name, false);
    return [Buffer.from(found?.bytes ?? []).includes('#EXT-X-ENDLIST'), found?.isGrowing];
  };
  run.wait(5.9);
  expect([await read('r0-early.m3u8'), await read('r0.m3u8')]).toEqual([
    [false, true],
    [true, false],
  ]);
  run.wait(0.1);
  expect(await read('r0-early.m3u8')).toEqual([true, false]);
});

test('versions differ by their tag, and a name that the run lacks has none', async () => {
  const run = openRun();
  const tags = new Set<string | undefined>();
  for (const revision of [1, 2]) {
    run.publish(revision, revision);
    tags.add((await run.find('r0.m3u8', true))?.etag);
  }
  expect(tags.size).toBe(2);
  expect(await run.find('r1.m3u8', true)).toBeUndefined();
});
