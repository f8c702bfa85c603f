// Chunks of a long video go wrong: workers are killed, headers differ, a chunk cannot be encoded.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type ChunkedWorkers,
  encodeLongVideo,
  expectNothingLeft,
  expectWhole,
  findRoles,
  longVideoSettled,
  queryRows,
  runFolders,
  scratchFolders,
  startChunkedWorkers,
} from '../support/chunked-videos.ts';
import { eventually } from '../support/service.ts';

let cluster: ChunkedWorkers;
beforeAll(async () => {
  cluster = await startChunkedWorkers();
}, 120_000);
afterAll(() => cluster.stop());

const tryOf = async (id: string) =>
  (await queryRows(cluster, 'select encode_try from assets where id = $1', id))[0]?.['encode_try'];

/** Only the files of the last run remain. */
const expectOnly = (id: string, folder: string) =>
  eventually(
    () => runFolders(cluster, id),
    (folders) => folders.length === 1 && folders[0] === folder,
  );

test('another worker encodes the chunk of a killed one, in the same run', async () => {
  const id = await encodeLongVideo(cluster);
  const { helper } = await findRoles(cluster, id);
  await helper.end('SIGKILL');
  await expectWhole(cluster, id);
  expect(await tryOf(id)).toBe(1);
  await expectNothingLeft(cluster, id);
  await cluster.replace(helper);
}, 240_000);

test('another worker takes over the video of a killed one, and only its run is published', async () => {
  const id = await encodeLongVideo(cluster);
  const { owner } = await findRoles(cluster, id);
  await owner.end('SIGKILL');
  await expectWhole(cluster, id);
  expect(await tryOf(id)).toBe(2);
  await expectNothingLeft(cluster, id);
  await expectOnly(id, '1-2');
  await cluster.replace(owner);
}, 240_000);

test('chunks with other headers are not joined: the next run encodes the video in one piece', async () => {
  const id = await encodeLongVideo(cluster);
  await queryRows(
    cluster,
    `update encode_chunks set init_digest = 'that of another ffmpeg' where asset_id = $1 and number = 3`,
    id,
  );
  await expectWhole(cluster, id);
  expect(await tryOf(id)).toBe(2);
  await expectNothingLeft(cluster, id);
  await expectOnly(id, '1-2');
}, 240_000);

test('a chunk that crashes its workers repeatedly fails the video, and the other chunks stop', async () => {
  const id = await encodeLongVideo(cluster);
  await queryRows(cluster, 'update encode_chunks set tries = 10 where asset_id = $1 and number = 3', id);
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
}, 120_000);
