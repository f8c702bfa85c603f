// Workers that encode a long video in chunks are killed: others take their work over.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChunkedWorkers,
  encodeLongVideo,
  expectNothingLeft,
  expectWhole,
  findRoles,
  latestTryOf,
  runFolders,
  startChunkedWorkers,
} from '../../support/encoding/chunked-videos.ts';

let cluster: ChunkedWorkers;
beforeAll(async () => {
  cluster = await startChunkedWorkers();
});
afterAll(() => cluster.stop());

test('another worker encodes the chunk of a killed one, in the same run', async () => {
  const id = await encodeLongVideo(cluster);
  const { helper } = await findRoles(cluster, id);
  await helper.end('SIGKILL');
  await expectWhole(cluster, id);
  expect(await latestTryOf(cluster, id)).toBe(1);
  await expectNothingLeft(cluster, id);
  await cluster.replace(helper);
});

test('another worker continues the video of a killed one, in the same run with the same chunks', async () => {
  const id = await encodeLongVideo(cluster);
  const { owner } = await findRoles(cluster, id);
  await owner.end('SIGKILL');
  await expectWhole(cluster, id);
  expect(await latestTryOf(cluster, id)).toBe(1);
  await expectNothingLeft(cluster, id);
  expect(await runFolders(cluster, id)).toEqual(['1-1']);
  await cluster.replace(owner);
});
