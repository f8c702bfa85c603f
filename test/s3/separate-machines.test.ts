// An API and workers share only a database and a bucket; one worker is killed.
import { readFile } from 'node:fs/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  busyWorkers,
  CHUNKS,
  expectNothingLeft,
  expectWhole,
  uploadLongVideo,
} from '../support/encoding/chunked-videos.ts';
import { makeClip } from '../support/clips/clips.ts';
import { complete, openUpload, putBytes, readAsset, settled } from '../support/media.ts';
import { CLEAN, decode } from '../support/clips/picture-and-sound.ts';
import { describeS3 } from '../support/store/s3.ts';
import {
  foldersWithObjects,
  scratchNames,
  type SeparateMachines,
  startSeparateMachines,
} from '../support/service/separate-machines.ts';
import { asUser, call, eventually } from '../support/service.ts';
import type { ServiceProcess } from '../support/service/service-process.ts';

describeS3('processes on separate machines', () => {
  let machines: SeparateMachines;

  describe('two workers', () => {
    beforeAll(async () => {
      machines = await startSeparateMachines({ workers: 2 });
    });
    afterAll(() => machines?.stop());

    test('finish a video after one was killed, once, and keep nothing on their disks', async () => {
      const { api, bucket } = machines;
      const started = await openUpload(api, 'ann', { visibility: 'public' });
      const id = started.asset_id;
      await putBytes(started, await readFile(await makeClip({ seconds: 12 })));
      expect((await complete(api, 'ann', id)).status).toBe(200);
      await eventually(
        () => readAsset(api, 'ann', id),
        ({ progress }) => progress > 0,
      );
      // Between two phases no ffmpeg runs.
      const [busy] = await eventually(
        () => busyWorkers(machines, id),
        ({ length }) => length > 0,
      );
      await busy?.end('SIGKILL');
      expect(await settled(api, 'ann', id)).toMatchObject({ stream_status: 'ready', warnings: [] });

      const { body } = await call<{ hls: string }>(api, `GET /media/${id}/playback`, {
        headers: asUser('ann'),
      });
      expect(await decode(body.data.hls)).toEqual(CLEAN);
      const { Contents = [] } = await bucket.client.send(
        new ListObjectsV2Command({ Bucket: bucket.location.bucket, Prefix: `renditions/${id}/` }),
      );
      expect(new Set(Contents.map(({ Key = '' }) => Key.split('/')[2])).size).toBe(1);
      await originalsAreRemoved(machines, busy);
    }, 240_000);
  });

  describe('four workers that encode chunks', () => {
    beforeAll(async () => {
      const settings = { ENCODE_CHUNK_S: '8', ENCODE_CONCURRENCY: '1' };
      machines = await startSeparateMachines({ workers: 4, settings });
    });
    afterAll(() => machines?.stop());

    test('share a long video, which plays as if one had encoded it', async () => {
      const id = await uploadLongVideo(machines);
      await oneForEachChunk(machines, id);
      await expectWhole(machines, id);
      await expectNothingLeft(machines, id);
    }, 240_000);

    test('finish a video after one was killed', async () => {
      const id = await uploadLongVideo(machines);
      const [killed] = await oneForEachChunk(machines, id);
      await killed?.end('SIGKILL');
      await expectWhole(machines, id);
      await expectNothingLeft(machines, id);
      await originalsAreRemoved(machines, killed);
    }, 240_000);
  });
});

const oneForEachChunk = (machines: SeparateMachines, id: string): Promise<readonly ServiceProcess[]> =>
  eventually(
    () => busyWorkers(machines, id),
    ({ length }) => length === CHUNKS,
    { withinMs: 60_000 },
  );

/** The copy of an original waits for further work for 30 s. */
async function originalsAreRemoved(machines: SeparateMachines, killed?: ServiceProcess): Promise<void> {
  await eventually(
    () => scratchNames(machines, killed),
    ({ length }) => length === 0,
    { withinMs: 45_000 },
  );
  expect(foldersWithObjects(machines)).toEqual([]);
}
