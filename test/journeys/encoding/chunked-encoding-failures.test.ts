// Chunks of a long video go wrong: headers differ, a chunk cannot be encoded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChunkedWorkers,
  encodeLongVideo,
  expectNothingLeft,
  expectOnlyRun,
  expectWhole,
  latestTryOf,
  longVideoSettled,
  queryRows,
  scratchFolders,
  startChunkedWorkers,
  uploadLongVideo,
} from '../../support/encoding/chunked-videos.ts';
import { eventually } from '../../support/service.ts';

let cluster: ChunkedWorkers;
beforeAll(async () => {
  cluster = await startChunkedWorkers();
});
afterAll(() => cluster.stop());

test('chunks with other headers are not joined: the next run encodes the video in one piece', async () => {
  const id = await encodeLongVideo(cluster);
  await queryRows(
    cluster,
    `update encode_chunks set init_digest = 'that of another ffmpeg' where asset_id = $1 and number = 2`,
    id,
  );
  await expectWhole(cluster, id);
  expect(await latestTryOf(cluster, id)).toBe(2);
  await expectNothingLeft(cluster, id);
  await expectOnlyRun(cluster, id, '1-2');
});

test('a chunk that crashes its workers repeatedly fails the video, and the other chunks stop', async () => {
  const id = await uploadLongVideo(cluster);
  // One that no worker has begun: two are encoded at a time, in any order.
  const crash = `
    update encode_chunks set claims = 10
     where asset_id = $1 and claims = 0
       and number = (select max(number) from encode_chunks where asset_id = $1 and claims = 0)
    returning number`;
  await eventually(
    () => queryRows(cluster, crash, id),
    ({ length }) => length === 1,
    { withinMs: 120_000 },
  );
  expect(await longVideoSettled(cluster, id)).toMatchObject({
    stream_status: 'failed',
    failure: { code: 'encoder_crashed', retryable: true },
    playback: null,
  });
  await expectNothingLeft(cluster, id);
  expect(await scratchFolders(cluster, id)).toEqual([]);
  const removals = await queryRows(
    cluster,
    `select start_after <= now() + interval '1 minute' as is_soon from pgboss.job
      where name = 'remove-run-files' and state = 'created' and data->>'assetId' = $1`,
    id,
  );
  expect(removals).toEqual([{ is_soon: true }]);
});
