// A long video is encoded in chunks by two workers, and plays as if one had encoded it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { waitForEngineEnd } from '../../support/encoding/engines.ts';
import {
  CHUNKS,
  type ChunkedWorkers,
  encodeLongVideo,
  expectNothingLeft,
  expectWhole,
  runFolders,
  scratchFolders,
  uploadLongVideo,
  startChunkedWorkers,
} from '../../support/encoding/chunked-videos.ts';
import { asUser, call, eventually } from '../../support/service.ts';

let cluster: ChunkedWorkers;
beforeAll(async () => {
  cluster = await startChunkedWorkers();
});
afterAll(() => cluster.stop());

test('both workers encode chunks, and the video has every frame once, in order', async () => {
  const id = await encodeLongVideo(cluster);
  await expectWhole(cluster, id);
  await expectNothingLeft(cluster, id);
  expect(await scratchFolders(cluster, id)).toEqual([]);
  const isOfChunk = (line: string) => line.includes('a chunk of a video was encoded') && line.includes(id);
  const encoded = cluster.workers.map(({ log }) => log().split('\n').filter(isOfChunk).length);
  expect(encoded.reduce((sum, count) => sum + count, 0)).toBe(CHUNKS);
  expect(Math.min(...encoded)).toBeGreaterThan(0);
});

test('deletion stops all workers, and leaves no files, rows or jobs', async () => {
  const id = await encodeLongVideo(cluster);
  expect((await call(cluster.api, `DELETE /media/${id}`, { headers: asUser('ann') })).status).toBe(200);
  await waitForEngineEnd(id, { withinMs: 5000 });
  await expectNothingLeft(cluster, id);
  expect(await scratchFolders(cluster, id)).toEqual([]);
  await eventually(
    () => runFolders(cluster, id),
    ({ length }) => length === 0,
  );
});

test('one worker alone encodes all chunks', async () => {
  const [spare] = cluster.workers;
  await spare?.end('SIGTERM');
  const id = await uploadLongVideo(cluster);
  await expectWhole(cluster, id);
  await expectNothingLeft(cluster, id);
});
